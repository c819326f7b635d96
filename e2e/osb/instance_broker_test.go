package osb_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// up has the broker listen again where it was.
func (s *brokerEnv) up() {
	s.Helper()
	at, err := url.Parse(s.broker.URL)
	require.NoError(s, err)
	require.NoError(s, s.broker.Listen(s.Context(), at.Host))
}

// guarded has the broker ask for a password, and the cluster know it by a Secret.
func (s *brokerEnv) guarded(secret string) func(*api.ClusterServiceBroker) {
	return func(b *api.ClusterServiceBroker) {
		b.Spec.AuthInfo = &api.ClusterServiceBrokerAuthInfo{Basic: &api.ClusterBasicAuthConfig{
			SecretRef: &api.ObjectReference{Namespace: s.Namespace, Name: secret},
		}}
	}
}

// Wrong credentials are not the instance's fault: it goes on when they are mended.
func TestAuthFailedUntilTheSecretIsRotated(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t, func(s *setting) { s.except = []string{"M1"} }) // with the wrong password
	secret := s.Secret("broker-auth")
	secret.StringData = map[string]string{"username": "me", "password": "first"}
	s.Create(secret)
	s.broker.SetAuth("me", "first", "")
	s.Change(s.registered, func() { s.guarded("broker-auth")(s.registered) })
	s.Ready(s.registered)

	s.broker.SetAuth("me", "second-of-the-rotation", "")
	i := s.db()
	s.Create(i)
	s.HasCondition(i, api.ConditionReady, api.ConditionFalse, "AuthFailed")
	assert.NotNil(t, i.Status.NextRetry)
	_, stalled := api.FindCondition(i.Status.Conditions, api.ConditionStalled)
	assert.False(t, stalled, "it is tried again")
	assert.Empty(t, s.broker.Mitigations())
	s.Change(secret, func() { secret.StringData = map[string]string{"username": "me", "password": "second-of-the-rotation"} })
	s.Ready(i)
	assert.Equal(t, i.Spec.ExternalID, i.Status.ExternalID)
	s.keeps("second-of-the-rotation")
	s.end(i)
}

// What a broker asks to wait is waited, and status says until when.
func TestRetryAfterOfRefusalsIsHonoured(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]osbtest.Fault{
		"429": osbtest.Status(429, `{}`).WithRetryAfter("4"),
		"422": osbtest.ConcurrencyError().WithRetryAfter("4"),
		"503": osbtest.RetryAfter("4"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBrokerEnv(t)
			i := s.provisioned()
			s.broker.Next(osbtest.Update, fault)
			s.Change(i, func() { i.Spec.ClusterServicePlanExternalName = "large" })
			s.HasCondition(i, api.ConditionReady, api.ConditionFalse, "UpdateInstanceCallFailed")
			first := s.last(osbtest.Update)
			require.NotNil(t, i.Status.NextRetry)
			assert.WithinDuration(t, first.Began.Add(4*time.Second), i.Status.NextRetry.Time, wait.Patience(2*time.Second))
			s.Ready(i)
			assert.Nil(t, i.Status.NextRetry)
			assert.GreaterOrEqual(t, s.last(osbtest.Update).Began.Sub(first.Began), 4*time.Second)
			s.end(i)
		})
	}
}

// 503 to a provision is an orphan, and the broker is asked again after the time that it
// asked for, by another ID.
func TestRetryAfterOfAnOrphanIsHonoured(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	s.broker.Next(osbtest.Provision, osbtest.RetryAfter("3"))
	i := s.provisioned()
	calls := s.broker.Calls(osbtest.Of(osbtest.Provision))
	require.Len(t, calls, 2)
	assert.GreaterOrEqual(t, spaced(calls)[0], 3*time.Second)
	assert.NotEqual(t, calls[0].InstanceID, calls[1].InstanceID)
	s.end(i)
}

// A broker that is down is not called for a while, and status says so; soon after it is up
// all is well.
func TestBrokerDownAndUp(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	s.broker.Close()
	var all []*api.ServiceInstance
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		i := s.Instance(name, env.OfPlan(s.Name("db"), "small"))
		s.Create(i)
		all = append(all, i)
	}
	for _, i := range all {
		s.Becomes(i, func() bool {
			reason := env.ConditionOf(i, api.ConditionReady).Reason
			return reason == "ErrorCallingProvision" || reason == "BrokerUnavailable"
		})
	}
	// The first to fail tries again, and is told that the broker is not called for a while.
	s.Becomes(all[0], func() bool {
		return env.ConditionOf(all[0], api.ConditionReconciling).Reason == "BrokerUnavailable"
	})
	s.up()
	for _, i := range all {
		s.Ready(i)
		assert.Equal(t, i.Spec.ExternalID, i.Status.ExternalID, "what was never sent left no orphan")
	}
	assert.Len(t, s.broker.Calls(osbtest.Of(osbtest.Provision)), len(all))
	for _, i := range all {
		s.Delete(i)
	}
	for _, i := range all {
		s.Gone(i)
	}
	assert.Empty(t, s.broker.Instances())
}

// A plan that the broker dropped stays for those who have it, and takes no new ones.
func TestRemovedPlan(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	i := s.provisioned(having(`{"size": 1}`))
	late := s.Instance("late", env.OfPlan(s.Name("db"), "small"))
	late.Spec.ParametersFrom = s.db(from("extra")).Spec.ParametersFrom
	s.Create(late) // waits for its Secret
	s.HasCondition(late, api.ConditionReady, api.ConditionUnknown, "ErrorWithParameters")
	small := s.setting.small
	s.setting.small = object{"id": s.Name("other-id"), "name": "other", "description": "another one"}
	s.relist()
	s.setting.small = small
	s.holds("extra", `{"size": 1}`)
	s.HasCondition(late, api.ConditionReady, api.ConditionUnknown, "ReferencesDeletedServicePlan")
	s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 2}`) })
	s.Ready(i)
	s.Delete(late)
	s.Gone(late)
	s.end(i)
}
