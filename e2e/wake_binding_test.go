package e2e_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// waitingBinding creates a binding whose instance is yet to come, or to be
// decided, and returns it as stored.
func (w *world) waitingBinding(name, instance string) *api.ServiceBinding {
	w.Helper()
	binding := &api.ServiceBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		Spec:       api.ServiceBindingSpec{InstanceRef: &api.InstanceReference{Name: instance}, Parameters: rawJSON(`{"user":"admin"}`)},
	}
	w.create(binding)
	require.False(w, binding.Spec.Decided(), "it waits")
	return binding
}

// bindable is a class and a plan that name("c") and name("p") name, with defaults
// for bindings.
func (w *world) bindable() []client.Object {
	w.Helper()
	offered, ok := plan{name: w.name("p"), class: w.name("c"), serviceType: w.name("db"), isDefault: true}.object().(*api.ClusterServicePlan)
	require.True(w, ok)
	offered.Spec.DefaultBindParameters = rawJSON(`{"user":"reader","tls":true}`)
	offered.Spec.DefaultSecretTransforms = []api.SecretTransform{{RenameKey: &api.RenameKeyTransform{From: "db-name", To: "database"}}}
	return []client.Object{class{name: w.name("c"), serviceType: w.name("db")}.object(), offered}
}

// becomesBound waits until the binding is decided.
func (w *world) becomesBound(name string) *api.ServiceBinding {
	w.Helper()
	binding := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
	w.eventually(func() (bool, error) {
		err := w.client.Get(w.Context(), client.ObjectKeyFromObject(binding), binding)
		return binding.Spec.Decided(), err
	})
	return binding
}

// TestTheBindingComesFirst: the user writes once, in whatever order; the rest is
// the keeper's.
func TestTheBindingComesFirst(t *testing.T) {
	t.Parallel()
	named := func(w *world) client.Object { return w.instance("mydb", ofPlan(w.name("c"), w.name("p"))) }
	for name, tc := range map[string]struct {
		reason string
		// before are there when the binding comes; only the last of after makes it
		// whole.
		before, after func(w *world) []client.Object
	}{
		"InstanceLast": {
			reason: "it is decided when it comes",
			before: func(w *world) []client.Object { return w.bindable() },
			after: func(w *world) []client.Object {
				return []client.Object{w.instance("mydb", ofType(w.name("db")))}
			},
		},
		"PlanLast": {
			reason: "the keeper decides the instance first",
			after:  func(w *world) []client.Object { return append([]client.Object{named(w)}, w.bindable()...) },
		},
		"InstanceWaits": {
			reason: "it is there, but was not decided",
			before: func(w *world) []client.Object { return []client.Object{named(w)} },
			after:  func(w *world) []client.Object { return w.bindable() },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if tc.before != nil {
				w.create(tc.before(w)...)
			}
			created := w.waitingBinding("creds", "mydb")
			w.create(tc.after(w)...)

			bound := w.becomesBound("creds")
			assert.Equal(t, w.name("p"), bound.Spec.ClusterServicePlanRef.Name, tc.reason)
			assert.Equal(t, w.name("c"), bound.Spec.ClusterServiceClassRef.Name)
			assert.Equal(t, w.stored("mydb").Spec.ServiceType, bound.Spec.ServiceType)
			assert.JSONEq(t, `{"user":"admin","tls":true}`, string(bound.Spec.Parameters.Raw), "defaults are merged when it is decided")
			assert.Len(t, bound.Spec.SecretTransforms, 1)
			assert.Equal(t, created.Spec.ExternalID, bound.Spec.ExternalID, "minted once")
			assert.Equal(t, created.Spec.UserInfo, bound.Spec.UserInfo, "the keeper's touch makes it nobody else's")
		})
	}
}

// TestABindingIsToldWhatItWaitsFor, and a touch that does not help changes
// nothing.
func TestABindingIsToldWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.waitingBinding("creds", "mydb")
	w.toldOf("creds", `waits for instance "mydb": it is decided on as soon as there is one`)
	stored := w.waiting("creds")

	w.create(w.instance("mydb", ofPlan(w.name("c"), w.name("p"))))
	w.waitingBinding("later", "mydb")
	w.toldOf("later", `waits for instance "mydb", which waits for plan "`+w.name("p")+`" of class "`+w.name("c")+`": it is decided on as soon as there is one`)
	assert.Empty(t, cmp.Diff(stored, w.waiting("creds")))
}

// toldOf waits for an event of the keeper's about an object that says so.
func (w *world) toldOf(name, says string) {
	w.Helper()
	w.eventually(func() (bool, error) {
		events := &eventsv1.EventList{}
		if err := w.client.List(w.Context(), events, client.InNamespace(w.namespace)); err != nil {
			return false, err
		}
		return slices.ContainsFunc(events.Items, func(e eventsv1.Event) bool {
			return e.Regarding.Name == name && e.Reason == "Undecided" && strings.Contains(e.Note, says)
		}), nil
	})
}

// waiting is a binding as stored.
func (w *world) waiting(name string) *api.ServiceBinding {
	w.Helper()
	binding := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
	w.get(binding)
	return binding
}
