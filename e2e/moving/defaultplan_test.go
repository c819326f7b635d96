package moving_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// TestMoveFromDefaultplan moves what defaultplan made on another cluster, whose webhook and
// policies still run when it is let go.
func TestMoveFromDefaultplan(t *testing.T) {
	t.Parallel()
	there := suite.New(t, stack.Options{Webhooks: 1, Whole: true, Controller: &stack.ControllerOptions{
		Args: []string{"--allow-broker-addresses=127.0.0.0/8", "--cluster-id=old-cluster"},
	}})
	e := env.New(t)
	h := between(e, e.OnStack(there), someInstances, someBindings)
	h.registers()
	for _, i := range h.instances {
		h.makes(i)
	}
	for _, b := range h.bindings {
		h.old.Ready(h.creates(b))
	}
	h.before = h.written()
	credentials, file := h.secrets(h.old), h.exported()
	h.runs(h.Env, h.importing(file)...)
	h.lives(credentials)
	require.NoError(t, there.Controller().Stop(t.Context(), syscall.SIGTERM))
	h.runs(h.old, h.releasing(file)...)
	h.ends()
}

// registers makes the brokers known to the old side.
func (h *house) registers() {
	h.Helper()
	h.old.Create(&corev1.Secret{ObjectMeta: h.old.Meta("auth"), StringData: map[string]string{"username": username, "password": password}})
	broker := h.old.ClusterBroker(h.cluster.URL, func(b *api.ClusterServiceBroker) {
		secret := &api.ObjectReference{Namespace: h.old.Namespace, Name: "auth"}
		b.Spec.AuthInfo = &api.ClusterServiceBrokerAuthInfo{Basic: &api.ClusterBasicAuthConfig{SecretRef: secret}}
	})
	h.old.Create(broker)
	h.old.Ready(broker)
	h.old.RegisterLocally(h.inhouse)
}

// makes has the old side provision an instance.
func (h *house) makes(i instance) {
	h.Helper()
	by := env.OfPlan
	if local(i.class) {
		by = env.OfLocalPlan
	}
	made := h.old.Instance(i.name, by(h.Name(i.class), "small"))
	made.Spec.ExternalID = h.instanceID(i.name)
	if i.parameters != "" {
		made.Spec.Parameters = env.RawJSON(i.parameters)
	}
	if i.secret != "" {
		key := &api.SecretKeyReference{Name: h.storesParameters(i), Key: "parameters"}
		made.Spec.ParametersFrom = []api.ParametersFromSource{{SecretKeyRef: key}}
	}
	h.old.Create(made)
	h.old.Ready(made)
}

// creates has the old side create a binding.
func (h *house) creates(b binding) *api.ServiceBinding {
	h.Helper()
	made := h.old.Binding(b.name, b.instance)
	made.Spec.ExternalID = h.bindingID(b.name)
	if b.renamed {
		made.Spec.SecretTransforms = []api.SecretTransform{{RenameKey: &api.RenameKeyTransform{From: "password", To: "PGPASSWORD"}}}
	}
	h.old.Create(made)
	return made
}
