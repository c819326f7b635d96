package osb_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// Clients cannot find credentials that are about to end.
func TestUnbindAfterTheSecretIsGone(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t)
	b := s.bound()
	held := s.broker.Hold(osbtest.Unbind)
	s.Delete(b)
	<-held.Arrived
	assert.True(t, s.Absent(s.Secret("reader")))
	held.Act()
	held.Answer()
	s.Gone(b)
	s.end(s.instance)
}

// A binding that is deleted while it is made: the broker is told to halt it.
func TestUnbindOfWhatIsBeingMade(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t)
	s.broker.Async(osbtest.Bind, -1)
	b := s.reader()
	s.Create(b)
	s.called(osbtest.PollBinding, 1)
	s.unbound(b)
	assert.True(t, s.Absent(s.Secret("reader")))
	s.end(s.instance)
}

// A broker that refuses for ever: a user may give up, knowing what is left.
func TestUnbindThatIsAbandoned(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t, func(s *setting) { s.except = []string{"M10"} })
	b := s.bound()
	s.broker.On(func(c osbtest.Call) osbtest.Fault {
		if c.Verb == osbtest.Unbind {
			return osbtest.Status(500, `{"description": "never"}`)
		}
		return osbtest.Fault{}
	})
	s.Delete(b)
	said := s.HasCondition(b, api.ConditionReady, api.ConditionFalse, "UnbindCallFailed")
	assert.Contains(t, said.Message, "never")
	assert.NotNil(t, b.Status.NextRetry, "people can read when it is tried again")
	s.Change(b, func() { b.Annotations[api.AnnotationAbandon] = "true" })
	s.Gone(b)
	s.Gone(s.Secret("reader"))
	assert.Len(t, s.broker.Bindings(), 1)
	s.Eventually(func() (bool, error) { return s.happened(b.Name, corev1.EventTypeWarning, "Abandoned"), nil })
}

// A broker whose registration was forced away cannot be asked any more.
func TestUnbindWithoutABroker(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t)
	b := s.bound()
	s.Delete(s.registered)
	s.Change(s.registered, func() { s.registered.Finalizers = nil })
	s.Gone(s.registered)
	s.Delete(b)
	s.Gone(b)
	s.Gone(s.Secret("reader"))
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Unbind)))
	s.Delete(s.instance)
	s.Gone(s.instance)
}

// What is recorded is enough to unbind: the instance need not be there.
func TestUnbindWithoutAnInstance(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t)
	b := s.bound()
	s.Delete(s.instance)
	s.Change(s.instance, func() { s.instance.Finalizers = nil })
	s.Gone(s.instance)
	s.unbound(b)
	assert.Len(t, s.broker.Calls(osbtest.Of(osbtest.Unbind)), 1)
}

// An instance and its bindings end, in whatever order they are deleted.
func TestInstanceAndBindingsAreDeletedTogether(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		delete func(s *bindingEnv, bindings []*api.ServiceBinding)
	}{
		"BindingsFirst": {reason: "the usual", delete: func(s *bindingEnv, bindings []*api.ServiceBinding) {
			for _, b := range bindings {
				s.Delete(b)
			}
			s.Delete(s.instance)
		}},
		"InstanceFirst": {reason: "it waits, naming them", delete: func(s *bindingEnv, bindings []*api.ServiceBinding) {
			s.Delete(s.instance)
			said := s.HasCondition(s.instance, api.ConditionReady, api.ConditionFalse, "DeprovisionBlockedByExistingCredentials")
			assert.Contains(s, said.Message, "b0, b1, b2")
			for _, b := range bindings {
				assert.False(s, s.Absent(b))
				s.Delete(b)
			}
		}},
		"Cascade": {reason: "the user asked for it", delete: func(s *bindingEnv, _ []*api.ServiceBinding) {
			s.Change(s.instance, func() { s.instance.Annotations[api.AnnotationCascade] = "true" })
			s.Delete(s.instance)
		}},
		"Namespace": {reason: "all goes with it", delete: func(s *bindingEnv, _ []*api.ServiceBinding) {
			s.Delete(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}})
		}},
		"KubectlAll": {reason: "as `kubectl delete -f` does", delete: func(s *bindingEnv, _ []*api.ServiceBinding) {
			s.Kubectl("", "delete", "serviceinstances,servicebindings", "--all", "--wait=false")
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBindingEnv(t)
			s.broker.Async(osbtest.Unbind, 0)
			var bindings []*api.ServiceBinding
			for n := range 3 {
				b := s.Binding(fmt.Sprintf("b%d", n), "mydb")
				s.Create(b)
				bindings = append(bindings, b)
			}
			s.Ready(bindings[0], bindings[1], bindings[2])
			tc.delete(s, bindings)
			s.Gone(s.instance)
			for _, b := range bindings {
				s.Gone(b)
				s.Gone(s.Secret(b.Name))
			}
			assert.Empty(t, s.broker.Bindings())
			assert.Empty(t, s.broker.Instances())
			if name == "Namespace" {
				s.Gone(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}})
			}
		})
	}
}

// existing is the ID of a binding at the broker that no object of the cluster has: it
// was made by one that was abandoned.
func (s *bindingEnv) existing() string {
	s.Helper()
	b := s.Binding("earlier", "mydb")
	s.Create(b)
	s.Ready(b)
	s.Change(b, func() { b.Annotations[api.AnnotationAbandon] = "true" })
	s.Delete(b)
	s.Gone(b)
	return b.Status.ExternalID
}

// A binding that was at the broker before is taken over, and left there.
func TestAdoptedBinding(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t)
	id := s.existing()
	adopt := func(b *api.ServiceBinding) { b.Spec.ExternalID = id }
	b := s.reader(adopt)
	s.Create(b)
	s.HasCondition(b, api.ConditionReady, api.ConditionTrue, "Adopted")
	s.agrees(b)
	assert.Equal(t, api.UnbindNotRequired, b.Status.UnbindStatus)
	s.Delete(b)
	s.Gone(b)
	s.Gone(s.Secret("reader"))
	assert.Contains(t, s.broker.Bindings(), id)
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Unbind)))

	b = s.reader(adopt, func(b *api.ServiceBinding) { b.Spec.Parameters = env.RawJSON(`{"role": "other"}`) })
	s.Create(b)
	s.bindingStalled(b, "ExternalIDConflict")
	s.Delete(b)
	s.Gone(b)
	assert.Contains(t, s.broker.Bindings(), id)
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Unbind)))
	s.removesAdopted(adopt, id)
}

// removesAdopted has a binding that was taken over removed after all.
func (s *bindingEnv) removesAdopted(adopt func(*api.ServiceBinding), id string) {
	b := s.bound(adopt, func(b *api.ServiceBinding) {
		b.Annotations = map[string]string{api.AnnotationDeprovisionAdopted: "true"}
	})
	s.unbound(b)
	assert.NotContains(s, s.broker.Bindings(), id)
}

// An ID that a user chose, and under which nothing was: the binding is its own, and
// failures are not undone, but tried again.
func TestBindingUnderAChosenID(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t, func(s *setting) { s.except = []string{"M10"} })
	s.broker.Next(osbtest.Bind, osbtest.Status(500, `{}`))
	b := s.bound(func(b *api.ServiceBinding) { b.Spec.ExternalID = s.Name("chosen") })
	assert.Equal(t, s.Name("chosen"), b.Status.ExternalID)
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Unbind)))
	assert.Equal(t, api.UnbindRequired, b.Status.UnbindStatus)
	s.unbound(b)
	require.Len(t, s.broker.Calls(osbtest.Of(osbtest.Unbind)), 1)
}

// happened says whether an event was told of an object.
func (e *testEnv) happened(name, kind, reason string) bool {
	e.Helper()
	for _, event := range e.happenings(name) {
		if event.Type == kind && event.Reason == reason {
			return true
		}
	}
	return false
}

// happenings are the events of an object.
func (e *testEnv) happenings(name string) []corev1.Event {
	e.Helper()
	var all corev1.EventList
	require.NoError(e, e.Client().List(e.Context(), &all, client.InNamespace(e.Namespace)))
	var found []corev1.Event
	for _, event := range all.Items {
		if event.InvolvedObject.Name == name {
			found = append(found, event)
		}
	}
	return found
}
