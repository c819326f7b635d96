package rotation_test

import (
	"crypto/rand"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

type object = map[string]any

// A setting is what the broker of a stage is like.
type setting struct {
	osbtest.Options

	// service is the one that the catalog has, and plan its only plan, which rotates.
	service, plan object
	// controller handles the broker; empty: the one without a name.
	controller string
	// except are the duties that are broken on purpose.
	except []string
}

// A stage is a namespace with a broker of its own, and an instance of it that is Ready.
// Its methods fail the test.
type stage struct {
	stack.Objects

	namespace, suffix string
	client            client.WithWatch
	broker            *osbtest.Broker
	registered        *api.ClusterServiceBroker
	instance          *api.ServiceInstance
	class             string
}

// plain has a plan that does not rotate.
func plain(s *setting) { delete(s.plan, "binding_rotatable") }

// fetchable has the credentials of a binding be asked for again.
func fetchable(s *setting) { s.service["bindings_retrievable"] = true }

// oneShot has the broker give credentials once only.
func oneShot(s *setting) { s.OneShot = true }

// crashing has the broker be one of the controller that is killed.
func crashing(s *setting) { s.controller, s.Crashes = mortalName, true }

func newStage(t *testing.T, edits ...func(*setting)) *stage {
	t.Helper()
	s := &stage{Objects: stack.Objects{T: t, Stack: shared}, suffix: strings.ToLower(rand.Text()[:8]), client: shared.Client()}
	s.class = "db-" + s.suffix
	set := setting{
		service: object{"id": s.class + "-id", "name": s.class, "description": "databases", "bindable": true, "plan_updateable": true},
		plan:    object{"id": "small-" + s.suffix, "name": "small", "description": "a small one", "binding_rotatable": true},
	}
	for _, edit := range edits {
		edit(&set)
	}
	set.service["plans"] = []object{set.plan}
	catalog, err := json.Marshal(object{"services": []object{set.service}})
	require.NoError(t, err)
	set.Catalog = catalog
	s.broker = osbtest.Start(t, set.Options)
	t.Cleanup(func() { s.broker.AssertDuties(t, set.except...) })
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "rotation-"}}
	s.Create(namespace)
	s.namespace = namespace.Name
	s.registered = &api.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: "broker-" + s.suffix}}
	s.registered.Spec.URL, s.registered.Spec.ControllerName = s.broker.URL, set.controller
	s.Create(s.registered)
	s.ready(s.registered)
	s.instance = &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "mydb"}}
	s.instance.Spec.ClusterServiceClassExternalName, s.instance.Spec.ClusterServicePlanExternalName = s.class, "small"
	s.Create(s.instance)
	s.ready(s.instance)
	return s
}

// ready waits until an object is Ready as its spec is now.
func (s *stage) ready(o client.Object) {
	s.Helper()
	s.Says(o, api.ConditionReady, api.ConditionTrue, "")
}

func said(o client.Object) string {
	text, err := json.Marshal(stack.ConditionsOf(o))
	if b, is := o.(*api.ServiceBinding); is {
		text, err = json.Marshal(b.Status)
	}
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// bound is a binding that is Ready.
func (s *stage) bound(edits ...func(*api.ServiceBinding)) *api.ServiceBinding {
	s.Helper()
	b := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "reader"}}
	b.Spec.InstanceRef = &api.InstanceReference{Name: s.instance.Name}
	b.Spec.Parameters = raw(`{"user":"app"}`)
	b.Spec.SecretName = "reader-secret"
	for _, edit := range edits {
		edit(b)
	}
	s.Create(b)
	s.ready(b)
	return b
}

// secretOf is the Secret of a binding.
func (s *stage) secretOf(b *api.ServiceBinding) *corev1.Secret {
	s.Helper()
	secret := &corev1.Secret{}
	require.NoError(s, s.client.Get(s.Context(), client.ObjectKey{Namespace: b.Namespace, Name: b.Spec.SecretName}, secret))
	return secret
}

// request asks for new credentials now.
func (s *stage) request(b *api.ServiceBinding) {
	s.Helper()
	s.Change(b, func() {
		if b.Spec.Rotation == nil {
			b.Spec.Rotation = &api.Rotation{}
		}
		b.Spec.Rotation.Requests++
	})
}
