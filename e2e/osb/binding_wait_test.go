package osb_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// neverBound asserts that the broker was not asked for credentials.
func (s *brokerEnv) neverBound() {
	s.Helper()
	assert.Empty(s, s.broker.Calls(osbtest.Of(osbtest.Bind)))
}

// A binding waits for its instance to be there and to be provisioned, and goes on by
// itself.
func TestBindingWaitsForItsInstance(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	b := s.Binding("reader", "mydb")
	s.Create(b)
	said := s.waits(b, "ReferencesNonexistentInstance")
	assert.Contains(t, said.Message, `"mydb"`)

	s.broker.Async(osbtest.Provision, -1)
	i := s.db()
	s.Create(i)
	s.waits(b, "ErrorInstanceNotReady")
	s.called(osbtest.PollInstance, 1)
	s.neverBound()
	require.True(t, s.broker.Finish(i.Spec.ExternalID))
	s.Ready(i, b)
}

// A binding waits while its instance is changed, for brokers do one thing at a time.
func TestBindingWaitsForAnUpdate(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t)
	s.broker.Async(osbtest.Update, -1)
	s.Change(s.instance, func() { s.instance.Spec.Parameters = env.RawJSON(`{"size": 2}`) })
	s.called(osbtest.PollInstance, 1)
	b := s.reader()
	s.Create(b)
	s.waits(b, "ErrorInstanceNotReady")
	s.neverBound()
	require.True(t, s.broker.Finish(s.instance.Status.ExternalID))
	s.Ready(b)
	s.unbound(b)
}

// P65: what the broker says cannot be used is not bound to, until it is repaired.
func TestBindingWaitsForRepair(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t)
	s.broker.Next(osbtest.Update, osbtest.AsyncFailed(0).Saying(false, true))
	s.Change(s.instance, func() { s.instance.Spec.Parameters = env.RawJSON(`{"size": 2}`) })
	s.stalled(s.instance, "UpdateInstanceCallFailed")
	b := s.reader()
	s.Create(b)
	s.waits(b, "ErrorInstanceNotReady")
	s.neverBound()
	s.Change(s.instance, func() { s.instance.Spec.Parameters = env.RawJSON(`{"size": 3}`) })
	s.Ready(s.instance, b)
	s.unbound(b)
}

// An update that failed and left the instance usable does not prevent binding
// to it.
func TestBindingAfterAFailedUpdate(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t)
	s.broker.Next(osbtest.Update, osbtest.Status(400, `{}`))
	s.Change(s.instance, func() { s.instance.Spec.Parameters = env.RawJSON(`{"size": 2}`) })
	s.stalled(s.instance, "UpdateInstanceCallFailed")
	s.unbound(s.bound())
}

// What goes away is not bound to, but what was begun is brought to its end.
func TestBindingToADeletedInstance(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t)
	foreign := s.Secret("waiting")
	s.Create(foreign)
	waiting, begun := s.Binding("waiting", "mydb"), s.Binding("begun", "mydb")
	s.Create(waiting)
	s.waits(waiting, "ErrorInjectingBindResult")
	s.broker.Async(osbtest.Bind, -1)
	s.Create(begun)
	s.called(osbtest.PollBinding, 1)

	s.Delete(s.instance)
	s.Delete(foreign)
	said := s.waits(waiting, "ErrorInstanceNotReady")
	assert.Contains(t, said.Message, "is being deleted")
	require.True(t, s.broker.Finish(begun.Spec.ExternalID))
	s.Ready(begun)
	assert.Len(t, s.broker.Bindings(), 1)
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Deprovision)))
	s.Delete(begun)
	s.Gone(s.instance) // nothing is there of the other one
	s.waits(waiting, "ReferencesNonexistentInstance")
	s.Delete(waiting)
	s.Gone(waiting)
}

// Instances of a plan that is not bindable are not bound to, and the user is told.
func TestBindingToWhatIsNotBindable(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t, func(s *setting) { s.small["bindable"] = false })
	b := s.Binding("reader", "mydb")
	s.Create(b) // admission cannot know yet
	s.waits(b, "ReferencesNonexistentInstance")
	i := s.provisioned()
	s.HasCondition(b, api.ConditionReady, api.ConditionFalse, "ErrorNonbindableServiceClass")
	s.HasCondition(b, api.ConditionStalled, api.ConditionTrue, "ErrorNonbindableServiceClass")
	s.neverBound()
	s.Delete(b)
	s.Gone(b)
	s.end(i)
}

// An instance outlives its plan in the catalog, and so does the right to bind to it.
func TestBindingToAPlanThatIsNotOfferedAnyMore(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t)
	s.setting.small = object{"id": s.Name("other-id"), "name": "other", "description": "another one", "free": true}
	s.relist()
	b := s.bound()
	s.agrees(b)
	s.unbound(b)
	s.end(s.instance)
}

// Parameters of a Secret are waited for, sent, and shown nowhere else.
func TestBindingWithParametersFromASecret(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t)
	b := s.reader(func(b *api.ServiceBinding) {
		b.Spec.Parameters = env.RawJSON(`{"role": "reader"}`)
		b.Spec.ParametersFrom = []api.ParametersFromSource{{SecretKeyRef: &api.SecretKeyReference{Name: "given", Key: "parameters"}}}
	})
	s.Create(b)
	s.waits(b, "ErrorWithParameters")
	s.neverBound()
	s.Create(s.given(`{"role": "admin", "pin": "canary-1234"}`))
	said := s.HasCondition(b, api.ConditionReady, api.ConditionFalse, "ErrorWithParameters")
	assert.Contains(t, said.Message, `"role"`, "a clash with what the user wrote")
	s.neverBound()

	given := s.given("")
	s.Change(given, func() { given.Data["parameters"] = []byte(`{"pin": "canary-1234"}`) })
	s.Ready(b)
	assert.Equal(t, map[string]any{"role": "reader", "pin": "canary-1234"}, s.onlyBinding().Parameters)
	assert.JSONEq(t, `{"role": "reader", "pin": "<redacted>"}`, string(b.Status.ExternalProperties.Parameters.Raw))
	text, err := json.Marshal(b)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "canary")

	s.Change(given, func() { given.Data["parameters"] = []byte(`{"pin": "canary-5678"}`) })
	s.broker.Excuse(b.Status.ExternalID) // which is not as it is asked for by now
	s.Delete(s.secretOf(b))
	s.Eventually(func() (bool, error) { return !s.Absent(s.Secret("reader")), nil })
	s.Ready(b)
	assert.Equal(t, "canary-5678", s.onlyBinding().Parameters["pin"], "a new binding uses the current values")
	s.Delete(b)
	s.Gone(b)
	assert.Empty(t, s.broker.Bindings())
}

// given is a Secret with parameters.
func (e *testEnv) given(parameters string) *corev1.Secret {
	secret := e.Secret("given")
	secret.Data = map[string][]byte{"parameters": []byte(parameters)}
	return secret
}
