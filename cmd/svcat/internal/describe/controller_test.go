package describe

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// An object whose broker names a controller that does not answer waits without a condition: what is
// described says for which one.
func TestDescribeNamesTheController(t *testing.T) {
	t.Parallel()
	seen := []v1beta1.Condition{v1beta1.Ready("Done", "it is")}
	for name, tc := range map[string]struct {
		reason, controller string
		conditions         []v1beta1.Condition
		observed           int64
		deleted            bool
		want               string
	}{
		"None":     {reason: "the one without a name"},
		"Works":    {reason: "it answers", controller: "east", conditions: seen, observed: 2, want: `"east"`},
		"Edited":   {reason: "it may be at it", controller: "east", conditions: seen, observed: 1, want: `"east"`},
		"Unseen":   {reason: "there may be none", controller: "east", want: `"east"; no controller of that name has seen it yet`},
		"Told":     {reason: "another one has said so", controller: "east", conditions: []v1beta1.Condition{v1beta1.Waiting(v1beta1.ReasonWaitsForController, "it waits")}, want: `"east"; no controller of that name has seen it yet`},
		"Deleted":  {reason: "there may be none any more", controller: "east", conditions: seen, observed: 1, deleted: true, want: `"east"; no controller of that name has seen that it is being deleted`},
		"Deleting": {reason: "it is at it", controller: "east", conditions: seen, observed: 2, deleted: true, want: `"east"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			meta := metav1.ObjectMeta{Namespace: "n", Name: "o", Generation: 2, Finalizers: []string{v1beta1.FinalizerServiceCatalog}}
			if tc.deleted {
				meta.DeletionTimestamp = new(metav1.Now())
			}
			broker := &v1beta1.ServiceBroker{ObjectMeta: *meta.DeepCopy()}
			broker.Spec.ControllerName, broker.Status.Conditions, broker.Status.ObservedGeneration = tc.controller, tc.conditions, tc.observed
			class := &v1beta1.ServiceClass{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "c"}}
			class.Spec.ServiceBrokerName = "o"
			instance := &v1beta1.ServiceInstance{ObjectMeta: *meta.DeepCopy()}
			instance.Spec.ServiceClassRef = &v1beta1.LocalObjectReference{Name: "c"}
			instance.Status.Conditions, instance.Status.ObservedGeneration = tc.conditions, tc.observed
			binding := &v1beta1.ServiceBinding{ObjectMeta: *meta.DeepCopy()}
			binding.Spec.InstanceRef = &v1beta1.InstanceReference{Name: "o"}
			binding.Status.Conditions, binding.Status.ObservedGeneration = tc.conditions, tc.observed
			reader := fakeReader(t, broker, class, instance, binding)
			for kind, describe := range map[string]func(*strings.Builder) error{
				"broker": func(out *strings.Builder) error {
					return describeBroker(t.Context(), reader, out, catalog.Broker{View: catalog.View[v1beta1.BrokerObject]{Object: broker}, Spec: &broker.Spec.CommonServiceBrokerSpec, Status: &broker.Status.CommonServiceBrokerStatus})
				},
				"instance": func(out *strings.Builder) error { return describeInstance(t.Context(), reader, out, instance) },
				"binding":  func(out *strings.Builder) error { return describeBinding(t.Context(), reader, out, binding, false) },
			} {
				out := &strings.Builder{}
				require.NoError(t, describe(out))
				_, after, is := strings.Cut(out.String(), "Controller:")
				line, _, _ := strings.Cut(after, "\n")
				assert.Equal(t, tc.want != "", is, "%s: %s", kind, tc.reason)
				assert.Equal(t, tc.want, strings.TrimSpace(line), "%s: %s", kind, tc.reason)
			}
		})
	}
}

// fakeReader has objects, and the fields that are selected by.
func fakeReader(t *testing.T, objects ...client.Object) client.Reader {
	t.Helper()
	scheme, err := cli.Scheme()
	require.NoError(t, err)
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithIndex(&v1beta1.ServiceClass{}, v1beta1.FieldServiceBrokerName, func(o client.Object) []string {
			return []string{o.(*v1beta1.ServiceClass).Spec.ServiceBrokerName}
		}).
		WithIndex(&v1beta1.ServiceBinding{}, v1beta1.FieldInstanceRefName, func(o client.Object) []string {
			return []string{o.(*v1beta1.ServiceBinding).Spec.InstanceRef.Name}
		}).
		WithIndex(&corev1.Event{}, "involvedObject.uid", func(o client.Object) []string {
			return []string{string(o.(*corev1.Event).InvolvedObject.UID)}
		}).Build()
}
