package osb_test

import (
	"crypto/rand"
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

// A world is a corner of a stack that belongs to one test: a namespace, and names that
// no other test has. Its methods fail the test.
type world struct {
	stack.Objects

	namespace, suffix string
	client            client.WithWatch
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOn(t, shared)
}

func newWorldOn(t *testing.T, s *stack.Stack) *world {
	t.Helper()
	w := &world{Objects: stack.Objects{T: t, Stack: s}, suffix: strings.ToLower(rand.Text()[:8]), client: s.Client()}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "story-"}}
	w.Create(namespace)
	w.namespace = namespace.Name
	return w
}

// name makes a name unique: for what is cluster-scoped.
func (w *world) name(base string) string { return base + "-" + w.suffix }

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
	w.Create(registered)
	w.Ready(registered)
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
