package osb_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// holds makes a Secret with parameters, or changes it.
func (e *testEnv) holds(name, parameters string) *corev1.Secret {
	e.Helper()
	secret := e.Secret(name)
	secret.StringData = map[string]string{"parameters": parameters}
	if err := e.Client().Get(e.Context(), client.ObjectKeyFromObject(secret), e.Secret(name)); err == nil {
		e.Change(secret, func() { secret.StringData = map[string]string{"parameters": parameters} })
		return secret
	}
	e.Create(secret)
	return secret
}

// keeps asserts that no text is anywhere but in the Secret: not in any instance or event
// of the environment, nor in the logs.
func (e *testEnv) keeps(secret string) {
	e.Helper()
	var instances api.ServiceInstanceList
	var events eventsv1.EventList
	require.NoError(e, e.Client().List(e.Context(), &instances, client.InNamespace(e.Namespace)))
	require.NoError(e, e.Client().List(e.Context(), &events, client.InNamespace(e.Namespace)))
	for _, list := range []any{instances, events} {
		text, err := json.Marshal(list)
		require.NoError(e, err)
		assert.NotContains(e, string(text), secret)
	}
	log, err := os.ReadFile(e.Controller().Log())
	require.NoError(e, err)
	assert.False(e, bytes.Contains(log, []byte(secret)), "the controller's log tells the secret")
}

// A Secret's value goes to the broker, over a default of the class, and nowhere else.
func TestParametersFromSecretBeatADefault(t *testing.T) {
	t.Parallel()
	const hidden = "hunter2-of-the-default"
	s := newBrokerEnv(t, func(s *setting) {
		s.service["metadata"] = object{"defaultProvisionParameters": object{"password": "default", "zone": "a"}}
	})
	s.holds("extra", `{"password": "`+hidden+`", "nested": {"token": "`+hidden+`-2"}}`)
	i := s.provisioned(from("extra"), having(`{"size": 1}`))
	assert.Equal(t, object{"password": hidden, "zone": "a", "size": 1.0, "nested": object{"token": hidden + "-2"}}, s.only().Parameters)
	require.NotNil(t, i.Status.ExternalProperties)
	assert.JSONEq(t, `{"password": "<redacted>", "zone": "a", "size": 1, "nested": "<redacted>"}`, string(i.Status.ExternalProperties.Parameters.Raw))
	s.keeps(hidden)

	s.holds("extra", `{"password": "`+hidden+`-new"}`)
	sent := s.called(osbtest.Update, 1)[0].Body
	assert.Equal(t, object{"password": hidden + "-new", "zone": "a", "size": 1.0}, sent["parameters"], "taken up at the next read")
	s.Ready(i)
	s.keeps(hidden)
	s.end(i)
}

// Some brokers answer with what they were sent.
func TestParametersFromSecretAreTakenOutOfBrokersTexts(t *testing.T) {
	t.Parallel()
	const hidden = "hunter2-of-the-echo"
	s := newBrokerEnv(t)
	s.holds("extra", `{"password": "`+hidden+`"}`)
	s.broker.Next(osbtest.Provision, osbtest.Status(400, `{"description": "password `+hidden+` is too weak"}`))
	i := s.db(from("extra"))
	s.Create(i)
	s.stalled(i, "ProvisionCallFailed")
	ready, _ := api.FindCondition(i.Status.Conditions, api.ConditionReady)
	assert.Contains(t, ready.Message, "password <redacted> is too weak")
	s.broker.Next(osbtest.Provision, osbtest.AsyncFailed(0))
	s.broker.Next(osbtest.PollInstance, osbtest.Status(200, `{"state": "in progress", "description": "with `+hidden+`"}`))
	s.Change(i, func() { i.Spec.UpdateRequests++ })
	s.called(osbtest.PollInstance, 2)
	s.stalled(i, "ProvisionCallFailed")
	s.keeps(hidden)
	s.end(i)
	s.keeps(hidden)
}

// A deletion may be answered with what was once sent, too.
func TestParametersFromSecretAreTakenOutOfTextsAtDeletion(t *testing.T) {
	t.Parallel()
	const hidden = "hunter2-of-the-last-word"
	s := newBrokerEnv(t)
	s.holds("extra", `{"password": "`+hidden+`"}`)
	i := s.provisioned(from("extra"))
	s.broker.Next(osbtest.Deprovision, osbtest.Status(500, `{"description": "cannot log in with `+hidden+`"}`))
	s.Delete(i)
	s.HasCondition(i, api.ConditionReady, api.ConditionFalse, "DeprovisionCallFailed")
	s.keeps(hidden)
	s.Gone(i)
	s.keeps(hidden)
}

// Who writes a key twice is told which, and where; nothing is sent.
func TestParametersFromSecretClash(t *testing.T) {
	t.Parallel()
	const hidden = "hunter2-of-the-clash"
	s := newBrokerEnv(t)
	s.holds("extra", `{"password": "`+hidden+`"}`)
	i := s.db(from("extra"), having(`{"password": "mine"}`))
	s.Create(i)
	ready := s.HasCondition(i, api.ConditionReady, api.ConditionFalse, "ErrorWithParameters")
	assert.Contains(t, ready.Message, `"password"`)
	assert.Contains(t, ready.Message, "parametersFrom")
	s.HasCondition(i, api.ConditionStalled, api.ConditionTrue, "ErrorWithParameters")
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Provision)))
	s.keeps(hidden)

	s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 1}`) })
	s.Ready(i)
	assert.Equal(t, object{"password": hidden, "size": 1.0}, s.only().Parameters)
	s.end(i)
}

// A Secret that comes later is waited for, as is its key, and that it holds an object.
func TestParametersFromSecretAreWaitedFor(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	i := s.db(from("extra"))
	s.Create(i)
	ready := s.HasCondition(i, api.ConditionReady, api.ConditionUnknown, "ErrorWithParameters")
	assert.Equal(t, `the Secret "extra" of parametersFrom is not there`, ready.Message)
	secret := s.Secret("extra")
	secret.StringData = map[string]string{"other": "1"}
	s.Create(secret)
	s.says(i, "has no key")
	s.holds("extra", `not an object`)
	s.says(i, "does not hold a JSON object")
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Provision)))
	s.holds("extra", "size: 3\nname: yaml is good too\n")
	s.Ready(i)
	assert.Equal(t, object{"size": 3.0, "name": "yaml is good too"}, s.only().Parameters)
	s.end(i)
}

// says waits until the condition Ready has a message that contains a text.
func (e *testEnv) says(i *api.ServiceInstance, text string) {
	e.Helper()
	e.Becomes(i, func() bool {
		ready, _ := api.FindCondition(i.Status.Conditions, api.ConditionReady)
		return strings.Contains(ready.Message, text)
	})
}

// The whole is checked against the plan's schema before it is sent: admission has not
// seen what is in Secrets.
func TestParametersFromSecretAreCheckedAgainstTheSchema(t *testing.T) {
	t.Parallel()
	const hidden = "hunter2-of-the-schema"
	schema := func(most int) object {
		return object{"parameters": object{
			"$schema": "http://json-schema.org/draft-04/schema#", "type": "object", "required": []string{"size"},
			"properties": object{"size": object{"type": "integer", "maximum": most}, "password": object{"type": "string", "maxLength": 30}},
		}}
	}
	s := newBrokerEnv(t, func(s *setting) {
		s.small["schemas"] = object{"service_instance": object{"create": schema(5), "update": schema(9)}}
	})
	s.holds("extra", `{"size": 7, "password": "`+hidden+`-that-is-much-too-long"}`)
	i := s.db(from("extra"))
	s.Create(i)
	ready := s.HasCondition(i, api.ConditionReady, api.ConditionFalse, "ErrorWithParameters")
	assert.Contains(t, ready.Message, "size")
	assert.Contains(t, ready.Message, "password")
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Provision)))
	s.keeps(hidden)

	s.holds("extra", `{"size": 3, "password": "`+hidden+`"}`)
	s.Ready(i)
	s.holds("extra", `{"size": 11}`)
	s.HasCondition(i, api.ConditionReady, api.ConditionFalse, "ErrorWithParameters")
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Update)))
	s.holds("extra", `{"size": 7}`)
	s.Ready(i)
	assert.Equal(t, object{"size": 7.0}, s.only().Parameters)
	s.keeps(hidden)
	s.end(i)
}
