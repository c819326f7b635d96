package osb_test

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/deploy"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// namespaceEnds deletes a namespace with a broker, the Secret with its credentials, an instance
// and a binding. The namespace's controller deletes all of them at once; the Secret stays
// until the broker removed what it has, also where the controller is killed meanwhile, and is
// held to its policy.
func (g *crashStack) namespaceEnds(t *testing.T) {
	e := newEnvOn(t, g.Stack)
	policy, err := fs.ReadFile(deploy.Manifests, "vap/secrets.yaml")
	require.NoError(t, err)
	e.Kubectl(string(policy), "apply", "-f", "-")
	broker := osbtest.Start(t, osbtest.Options{Catalog: []byte(namespacedCatalog), Username: "u", Password: "p", Crashes: true})
	secret := e.Secret("credentials")
	secret.StringData = map[string]string{"username": "u", "password": "p"}
	registered := &api.ServiceBroker{ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: "local"}}
	registered.Spec.URL = broker.URL
	registered.Spec.AuthInfo = &api.ServiceBrokerAuthInfo{Basic: &api.BasicAuthConfig{SecretRef: &api.LocalObjectReference{Name: secret.Name}}}
	e.Create(secret, registered)
	e.Ready(registered)
	i := e.Instance("mydb", env.OfPlan("", ""))
	i.Spec.ServiceClassExternalName, i.Spec.ServicePlanExternalName = "db", "free"
	b := e.Binding("reader", "mydb")
	e.Create(i, b)
	e.Ready(i, b)

	failed := osbtest.Status(500, `{}`)
	broker.Next(osbtest.Unbind, failed)
	broker.Next(osbtest.Deprovision, failed, failed)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: e.Namespace}}
	e.Delete(namespace)
	e.Eventually(func() (bool, error) {
		e.Get(secret)
		return secret.DeletionTimestamp != nil && len(broker.Calls(osbtest.Of(osbtest.Unbind))) > 0, nil
	})
	assert.Equal(t, []string{api.FinalizerOfBroker(registered.UID)}, secret.Finalizers)
	g.killed(t)()
	e.Gone(i, b, registered, secret, namespace)
	assert.Empty(t, broker.Instances())
	assert.Empty(t, broker.Bindings())
}
