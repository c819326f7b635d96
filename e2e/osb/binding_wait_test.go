package osb_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// neverBound asserts that the broker was not asked for credentials.
func (s *stage) neverBound() {
	s.Helper()
	assert.Empty(s, s.broker.Calls(osbtest.Of(osbtest.Bind)))
}

// A binding waits for its instance to be there and to be provisioned, and goes on by
// itself.
func TestBindingWaitsForItsInstance(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	b := s.binding("reader", "mydb")
	s.create(b)
	said := s.waits(b, "ReferencesNonexistentInstance")
	assert.Contains(t, said.Message, `"mydb"`)

	s.broker.Async(osbtest.Provision, -1)
	i := s.db()
	s.create(i)
	s.waits(b, "ErrorInstanceNotReady")
	s.called(osbtest.PollInstance, 1)
	s.neverBound()
	require.True(t, s.broker.Finish(i.Spec.ExternalID))
	s.ready(i, b)
}

// A binding waits while its instance is changed, for brokers do one thing at a time.
func TestBindingWaitsForAnUpdate(t *testing.T) {
	t.Parallel()
	s := newBindingStage(t)
	s.broker.Async(osbtest.Update, -1)
	s.change(s.instance, func() { s.instance.Spec.Parameters = rawJSON(`{"size": 2}`) })
	s.called(osbtest.PollInstance, 1)
	b := s.reader()
	s.create(b)
	s.waits(b, "ErrorInstanceNotReady")
	s.neverBound()
	require.True(t, s.broker.Finish(s.instance.Status.ExternalID))
	s.ready(b)
	s.unbound(b)
}

// P65: what the broker says cannot be used is not bound to, until it is repaired.
func TestBindingWaitsForRepair(t *testing.T) {
	t.Parallel()
	s := newBindingStage(t)
	s.broker.Next(osbtest.Update, osbtest.AsyncFailed(0).Saying(false, true))
	s.change(s.instance, func() { s.instance.Spec.Parameters = rawJSON(`{"size": 2}`) })
	s.stalled(s.instance, "UpdateInstanceCallFailed")
	b := s.reader()
	s.create(b)
	s.waits(b, "ErrorInstanceNotReady")
	s.neverBound()
	s.change(s.instance, func() { s.instance.Spec.Parameters = rawJSON(`{"size": 3}`) })
	s.ready(s.instance, b)
	s.unbound(b)
}

// An update that failed and left the instance usable keeps nobody from binding to it.
func TestBindingAfterAFailedUpdate(t *testing.T) {
	t.Parallel()
	s := newBindingStage(t)
	s.broker.Next(osbtest.Update, osbtest.Status(400, `{}`))
	s.change(s.instance, func() { s.instance.Spec.Parameters = rawJSON(`{"size": 2}`) })
	s.stalled(s.instance, "UpdateInstanceCallFailed")
	s.unbound(s.bound())
}

// What goes away is not bound to, but what was begun is brought to its end.
func TestBindingToADeletedInstance(t *testing.T) {
	t.Parallel()
	s := newBindingStage(t)
	foreign := s.secret("waiting")
	s.create(foreign)
	waiting, begun := s.binding("waiting", "mydb"), s.binding("begun", "mydb")
	s.create(waiting)
	s.waits(waiting, "ErrorInjectingBindResult")
	s.broker.Async(osbtest.Bind, -1)
	s.create(begun)
	s.called(osbtest.PollBinding, 1)

	s.delete(s.instance)
	s.delete(foreign)
	said := s.waits(waiting, "ErrorInstanceNotReady")
	assert.Contains(t, said.Message, "is being deleted")
	require.True(t, s.broker.Finish(begun.Spec.ExternalID))
	s.ready(begun)
	assert.Len(t, s.broker.Bindings(), 1)
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Deprovision)))
	s.delete(begun)
	s.gone(s.instance) // nothing is there of the other one
	s.waits(waiting, "ReferencesNonexistentInstance")
	s.delete(waiting)
	s.gone(waiting)
}

// Instances of a plan that is not bindable are not bound to, and the user is told.
func TestBindingToWhatIsNotBindable(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(s *setting) { s.small["bindable"] = false })
	b := s.binding("reader", "mydb")
	s.create(b) // admission cannot know yet
	s.waits(b, "ReferencesNonexistentInstance")
	i := s.provisioned()
	s.hasCondition(b, api.ConditionReady, api.ConditionFalse, "ErrorNonbindableServiceClass")
	s.hasCondition(b, api.ConditionStalled, api.ConditionTrue, "ErrorNonbindableServiceClass")
	s.neverBound()
	s.delete(b)
	s.gone(b)
	s.end(i)
}

// An instance outlives its plan in the catalog, and so does the right to bind to it.
func TestBindingToAPlanThatIsNotOfferedAnyMore(t *testing.T) {
	t.Parallel()
	s := newBindingStage(t)
	s.setting.small = object{"id": s.name("other-id"), "name": "other", "description": "another one", "free": true}
	s.relist()
	b := s.bound()
	s.agrees(b)
	s.unbound(b)
	s.end(s.instance)
}

// Parameters of a Secret are waited for, sent, and seen by nobody else.
func TestBindingWithParametersFromASecret(t *testing.T) {
	t.Parallel()
	s := newBindingStage(t)
	b := s.reader(func(b *api.ServiceBinding) {
		b.Spec.Parameters = rawJSON(`{"role": "reader"}`)
		b.Spec.ParametersFrom = []api.ParametersFromSource{{SecretKeyRef: &api.SecretKeyReference{Name: "given", Key: "parameters"}}}
	})
	s.create(b)
	s.waits(b, "ErrorWithParameters")
	s.neverBound()
	s.create(s.given(`{"role": "admin", "pin": "canary-1234"}`))
	said := s.hasCondition(b, api.ConditionReady, api.ConditionFalse, "ErrorWithParameters")
	assert.Contains(t, said.Message, `"role"`, "a clash with what the user wrote")
	s.neverBound()

	given := s.given("")
	s.change(given, func() { given.Data["parameters"] = []byte(`{"pin": "canary-1234"}`) })
	s.ready(b)
	assert.Equal(t, map[string]any{"role": "reader", "pin": "canary-1234"}, s.onlyBinding().Parameters)
	assert.JSONEq(t, `{"role": "reader", "pin": "<redacted>"}`, string(b.Status.ExternalProperties.Parameters.Raw))
	text, err := json.Marshal(b)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "canary")

	s.change(given, func() { given.Data["parameters"] = []byte(`{"pin": "canary-5678"}`) })
	s.broker.Excuse(b.Status.ExternalID) // which is not as it is asked for by now
	s.delete(s.secretOf(b))
	s.eventually(func() (bool, error) { return !s.absent(s.secret("reader")), nil })
	s.ready(b)
	assert.Equal(t, "canary-5678", s.onlyBinding().Parameters["pin"], "what is bound anew is bound with what is there now")
	s.delete(b)
	s.gone(b)
	assert.Empty(t, s.broker.Bindings())
}

// given is a Secret with parameters.
func (w *world) given(parameters string) *corev1.Secret {
	secret := w.secret("given")
	secret.Data = map[string][]byte{"parameters": []byte(parameters)}
	return secret
}
