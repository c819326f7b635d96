package osb_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A world is a corner of a stack that belongs to one test: a namespace, and names that
// no other test has. Its methods fail the test.
type world struct {
	*testing.T
	*stack.Stack

	namespace, suffix string
	client            client.WithWatch
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOn(t, shared)
}

func newWorldOn(t *testing.T, s *stack.Stack) *world {
	t.Helper()
	w := &world{T: t, Stack: s, suffix: strings.ToLower(rand.Text()[:8]), client: s.Client()}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "story-"}}
	w.create(namespace)
	w.namespace = namespace.Name
	return w
}

// name makes a name unique: for what is cluster-scoped.
func (w *world) name(base string) string { return base + "-" + w.suffix }

func (w *world) create(objects ...client.Object) {
	w.Helper()
	for _, object := range objects {
		require.NoError(w, w.client.Create(w.Context(), object), "create %T %s", object, object.GetName())
	}
}

// get reads object anew from the API server.
func (w *world) get(object client.Object) {
	w.Helper()
	require.NoError(w, w.client.Get(w.Context(), client.ObjectKeyFromObject(object), object))
}

// delete asks for an object's deletion, and does not wait for it.
func (w *world) delete(object client.Object) {
	w.Helper()
	require.NoError(w, w.client.Delete(w.Context(), object))
}

// gone waits until an object is there no more.
func (w *world) gone(object client.Object) {
	w.Helper()
	w.eventually(func() (bool, error) {
		err := w.client.Get(w.Context(), client.ObjectKeyFromObject(object), object)
		if err != nil {
			return true, client.IgnoreNotFound(err)
		}
		return false, fmt.Errorf("%T %s is still there: %s", object, object.GetName(), statusOf(object))
	})
}

// eventually polls until the condition is true; an error says why not yet.
func (w *world) eventually(is func() (bool, error)) {
	w.Helper()
	require.NoError(w, stack.Eventually(w.Context(), is))
}

// ready waits until an object is Ready as its spec is now.
func (w *world) ready(objects ...client.Object) {
	w.Helper()
	for _, object := range objects {
		w.hasCondition(object, api.ConditionReady, api.ConditionTrue, "")
	}
}

// hasCondition waits until an object has a condition, observed at its generation; an
// empty reason is any.
func (w *world) hasCondition(object client.Object, typ string, status api.ConditionStatus, reason string) api.Condition {
	w.Helper()
	var found api.Condition
	w.eventually(func() (bool, error) {
		if err := w.client.Get(w.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return true, err
		}
		found, _ = api.FindCondition(conditionsOf(object), typ)
		is := found.Status == status && (reason == "" || found.Reason == reason) && found.ObservedGeneration == object.GetGeneration()
		if is {
			return true, nil
		}
		return false, fmt.Errorf("%T %s is not %s=%s (%s): %s", object, object.GetName(), typ, status, reason, statusOf(object))
	})
	return found
}

func conditionsOf(object client.Object) []api.Condition {
	switch o := object.(type) {
	case *api.ServiceInstance:
		return o.Status.Conditions
	case *api.ServiceBinding:
		return o.Status.Conditions
	case *api.ClusterServiceBroker:
		return o.Status.Conditions
	case *api.ServiceBroker:
		return o.Status.Conditions
	}
	return nil
}

func statusOf(object client.Object) string {
	text, err := json.Marshal(conditionsOf(object))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// kubectl runs kubectl in the world's namespace and returns what it printed to both
// outputs; it must exit with 0.
func (w *world) kubectl(stdin string, args ...string) string {
	w.Helper()
	stdout, stderr, err := w.Kubectl(w.Context(), stdin, append([]string{"-n", w.namespace}, args...)...)
	require.NoError(w, err, "%s%s", stdout, stderr)
	return stdout + stderr
}

// register makes a broker known to the cluster and waits until its catalog was read. At
// the end of the test it is removed.
func (w *world) register(broker *osbtest.Broker, edits ...func(*api.ClusterServiceBroker)) *api.ClusterServiceBroker {
	w.Helper()
	registered := &api.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: w.name("broker")}}
	registered.Spec.URL = broker.URL
	for _, edit := range edits {
		edit(registered)
	}
	w.create(registered)
	w.ready(registered)
	return registered
}

// instance is an instance of a class and plan, by external name, not yet created.
func (w *world) instance(name, class, plan string) *api.ServiceInstance {
	i := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
	i.Spec.ClusterServiceClassExternalName, i.Spec.ClusterServicePlanExternalName = class, plan
	return i
}

// binding is a binding to an instance of the world, not yet created.
func (w *world) binding(name, instance string) *api.ServiceBinding {
	b := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
	b.Spec.InstanceRef = &api.InstanceReference{Name: instance}
	return b
}

func (w *world) secret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
}

// rawJSON is parameters; nil for an empty text.
func rawJSON(text string) *runtime.RawExtension {
	if text == "" {
		return nil
	}
	return &runtime.RawExtension{Raw: json.RawMessage(text)}
}
