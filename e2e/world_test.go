package e2e_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
)

// A world is a corner of a stack that belongs to one test: a namespace, and
// names that no other test has. Its methods fail the test.
type world struct {
	*testing.T
	*stack.Stack

	// namespace exists.
	namespace string
	// suffix makes names unique: a DNS label.
	suffix string
	// warnings are those of the API server to requests of client.
	warnings *warnings
	// client is the administrator's.
	client client.WithWatch
}

// newWorld makes a world on the shared stack.
func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOn(t, shared)
}

func newWorldOn(t *testing.T, s *stack.Stack) *world {
	t.Helper()
	w := &world{T: t, Stack: s, suffix: strings.ToLower(rand.Text()[:8])}
	w.client, w.warnings = w.clientFor(s.RESTConfig())
	w.namespace = w.addNamespace()
	return w
}

// in is the same world as seen by a subtest.
func (w *world) in(t *testing.T) *world {
	t.Helper()
	same := *w
	same.T = t
	same.client, same.warnings = same.clientFor(w.RESTConfig())
	return &same
}

func (w *world) clientFor(config *rest.Config) (client.WithWatch, *warnings) {
	w.Helper()
	heard := &warnings{}
	config.WarningHandlerWithContext = heard
	scheme, err := stack.Scheme()
	require.NoError(w, err)
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	require.NoError(w, err)
	return c, heard
}

// addNamespace makes a further namespace of this world.
func (w *world) addNamespace() string {
	w.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "story-"}}
	w.create(namespace)
	return namespace.Name
}

// name makes a name unique: for what is cluster-scoped.
func (w *world) name(base string) string { return base + "-" + w.suffix }

func (w *world) create(objects ...client.Object) {
	w.Helper()
	for _, object := range objects {
		require.NoError(w, w.put(object), "create %T %s", object, object.GetName())
	}
}

// get reads object anew from the API server.
func (w *world) get(object client.Object) {
	w.Helper()
	require.NoError(w, w.client.Get(w.Context(), client.ObjectKeyFromObject(object), object))
}

// eventually polls until the condition is true; an error says why not yet.
func (w *world) eventually(is func() (bool, error)) {
	w.Helper()
	require.NoError(w, stack.Eventually(w.Context(), is))
}

// kubectl runs kubectl in the world's namespace and returns what it printed to
// both outputs; it must exit with 0.
func (w *world) kubectl(stdin string, args ...string) string {
	w.Helper()
	stdout, stderr, err := w.Kubectl(w.Context(), stdin, append([]string{"-n", w.namespace}, args...)...)
	require.NoError(w, err, "%s%s", stdout, stderr)
	return stdout + stderr
}

// kubectlFails is kubectl for what must not exit with 0; it returns what was
// printed to standard error.
func (w *world) kubectlFails(stdin string, args ...string) string {
	w.Helper()
	stdout, stderr, err := w.Kubectl(w.Context(), stdin, append([]string{"-n", w.namespace}, args...)...)
	require.Error(w, err, "kubectl %v: %s%s", args, stdout, stderr)
	return stderr
}

// An edit changes an instance before it is created.
type edit func(*api.ServiceInstance)

// instance is an instance in the world's namespace, not yet created.
func (w *world) instance(name string, edits ...edit) *api.ServiceInstance {
	instance := &api.ServiceInstance{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.GroupVersion.String(), Kind: "ServiceInstance"},
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
	}
	for _, edit := range edits {
		edit(instance)
	}
	return instance
}

// createInstance creates an instance and returns it as stored.
func (w *world) createInstance(name string, edits ...edit) *api.ServiceInstance {
	w.Helper()
	instance := w.instance(name, edits...)
	w.create(instance)
	return instance
}

func ofType(serviceType string) edit {
	return func(i *api.ServiceInstance) { i.Spec.ServiceType = serviceType }
}

// ofPlan names a cluster class and plan by external name; an empty one is not
// named.
func ofPlan(class, plan string) edit {
	return func(i *api.ServiceInstance) {
		i.Spec.ClusterServiceClassExternalName, i.Spec.ClusterServicePlanExternalName = class, plan
	}
}

// ofLocalPlan is ofPlan for a class and plan in the namespace.
func ofLocalPlan(class, plan string) edit {
	return func(i *api.ServiceInstance) {
		i.Spec.ServiceClassExternalName, i.Spec.ServicePlanExternalName = class, plan
	}
}

func withSelector(labels map[string]string) edit {
	return func(i *api.ServiceInstance) { i.Spec.PlanSelector = &metav1.LabelSelector{MatchLabels: labels} }
}

// withParameters sets spec.parameters to a JSON object.
func withParameters(text string) edit {
	return func(i *api.ServiceInstance) { i.Spec.Parameters = rawJSON(text) }
}

// rawJSON is nil for an empty text.
func rawJSON(text string) *runtime.RawExtension {
	if text == "" {
		return nil
	}
	return &runtime.RawExtension{Raw: json.RawMessage(text)}
}

// planOf is the Kubernetes name of the plan that an instance was decided on,
// empty if none was.
func planOf(instance *api.ServiceInstance) string {
	if ref := instance.Spec.ClusterServicePlanRef; ref != nil {
		return ref.Name
	}
	if ref := instance.Spec.ServicePlanRef; ref != nil {
		return ref.Name
	}
	return ""
}

// parametersOf is the JSON of an instance's parameters, "" for none.
func parametersOf(instance *api.ServiceInstance) string {
	if instance.Spec.Parameters == nil {
		return ""
	}
	return string(instance.Spec.Parameters.Raw)
}

// appliedTo is the record of what admission applied to an instance.
func (w *world) appliedTo(instance *api.ServiceInstance) api.AppliedDefaults {
	w.Helper()
	applied, err := api.ParseAppliedDefaults(instance.Annotations[api.AnnotationAppliedDefaults])
	require.NoError(w, err)
	return applied
}

// warnings collects the warnings of the API server.
type warnings struct {
	heard syncedLines
}

// HandleWarningHeaderWithContext remembers a warning.
func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	w.heard.add(text)
}

// take returns the warnings since the last time.
func (w *warnings) take() []string { return w.heard.take() }
