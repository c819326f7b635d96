package osb_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A broker that says when to come again is not asked before; the operation's key comes
// back to it as it was.
func TestRetryAfterOfPollsIsHonoured(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t, func(s *setting) { s.RetryAfter = "3" })
	s.broker.Async(osbtest.Provision, 1)
	i := s.db()
	s.Create(i)
	s.Becomes(i, func() bool { return i.Status.AsyncOpInProgress })
	require.NotNil(t, i.Status.LastOperation)
	assert.Equal(t, api.InstanceProvision, i.Status.CurrentOperation)
	require.NotNil(t, i.Status.DashboardURL, "it comes with the first answer only")
	s.Ready(i)

	polls := s.broker.Calls(osbtest.Of(osbtest.PollInstance))
	require.Len(t, polls, 2)
	provision := s.last(osbtest.Provision)
	assert.GreaterOrEqual(t, polls[0].Began.Sub(provision.Began), 3*time.Second)
	assert.GreaterOrEqual(t, polls[1].Began.Sub(polls[0].Began), 3*time.Second)
	for _, poll := range polls {
		assert.NotEmpty(t, poll.Query.Get("operation"))
		assert.Equal(t, s.setting.small["id"], poll.Query.Get("plan_id"))
	}
	assert.Nil(t, i.Status.LastOperation)
	assert.Empty(t, i.Status.CurrentOperation)
	assert.Nil(t, i.Status.OperationStartTime)
	s.broker.Sync()
	s.end(i)
}

// Polls come about once a second at first; what else happens to the instance brings none
// before its time.
func TestPollsAreSpaced(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	s.broker.Async(osbtest.Provision, 4)
	i := s.db()
	s.Create(i)
	for n := range 4 {
		polls := s.called(osbtest.PollInstance, n)
		s.Change(i, func() { i.Labels = map[string]string{"touched": string(rune('a' + len(polls)))} })
	}
	s.Ready(i)
	polls := s.broker.Calls(osbtest.Of(osbtest.PollInstance))
	require.Len(t, polls, 5)
	for _, between := range spaced(polls) {
		assert.Greater(t, between, 900*time.Millisecond)
		assert.Less(t, between, wait.Patience(10*time.Second))
	}
	s.end(i)
}

// Some brokers answer 202 and give no key: then none is sent.
func TestOperationWithoutKey(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t, func(s *setting) { s.NoOperation = true })
	s.broker.Async(osbtest.Provision, 1)
	i := s.provisioned()
	for _, poll := range s.broker.Calls(osbtest.Of(osbtest.PollInstance)) {
		assert.NotContains(t, poll.Query, "operation")
	}
	s.end(i)
}

// An operation that outlasts its plan's time is given up, and what there is removed.
func TestMaximumPollingDurationOfAPlan(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t, func(s *setting) { s.small["maximum_polling_duration"] = 2 })
	s.broker.Async(osbtest.Provision, -1)
	i := s.db()
	s.Create(i)
	s.Get(i)
	// The broker grants us some seconds more, and takes a clean-up before then for a whim.
	s.broker.Excuse(i.Spec.ExternalID)
	s.stalled(i, "AsyncOperationTimeout")
	s.Becomes(i, func() bool { return !i.Status.OrphanMitigationInProgress })
	polls := s.broker.Calls(osbtest.Of(osbtest.PollInstance))
	longest := polls[len(polls)-1].Began.Sub(s.last(osbtest.Provision).Began)
	assert.GreaterOrEqual(t, longest, 2*time.Second)
	assert.Less(t, longest, wait.Patience(7*time.Second))
	assert.Empty(t, s.broker.Instances(), "nothing is left")

	s.broker.Sync()
	s.Change(i, func() { i.Spec.UpdateRequests++ })
	s.Ready(i)
	assert.NotEqual(t, i.Spec.ExternalID, i.Status.ExternalID)
	s.end(i)
}

// An update that is not over in time is Failed; a deletion is asked for again.
func TestMaximumPollingDurationOfOthers(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t, func(s *setting) { s.small["maximum_polling_duration"] = 1 })
	i := s.provisioned()
	s.broker.Next(osbtest.Update, osbtest.AsyncDone(-1))
	s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 2}`) })
	s.stalled(i, "AsyncOperationTimeout")
	require.True(t, s.broker.Finish(i.Status.ExternalID))
	s.broker.Next(osbtest.Deprovision, osbtest.AsyncDone(-1))
	s.Delete(i)
	s.called(osbtest.Deprovision, 2)
	require.True(t, s.broker.Finish(i.Status.ExternalID))
	s.Gone(i)
}

// What a person changes while the broker works is taken, and brought to it afterwards.
func TestEditDuringAnOperation(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	s.broker.Async(osbtest.Provision, -1)
	i := s.db(having(`{"size": 1}`))
	s.Create(i)
	s.called(osbtest.PollInstance, 1)
	s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 2}`) })
	s.called(osbtest.PollInstance, 3)
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Update)))
	s.broker.Finish(i.Spec.ExternalID)
	s.Ready(i)
	assert.Equal(t, object{"size": 2.0}, s.only().Parameters)

	s.broker.Next(osbtest.Update, osbtest.AsyncDone(-1))
	s.Change(i, func() { i.Spec.ClusterServicePlanExternalName = "large" })
	polls := len(s.called(osbtest.PollInstance, 4))
	s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 3}`) })
	s.called(osbtest.PollInstance, polls+1)
	s.broker.Finish(i.Spec.ExternalID)
	s.Ready(i)
	assert.Equal(t, object{"size": 3.0}, s.only().Parameters)
	assert.Equal(t, s.setting.large["id"], s.only().PlanID)
	s.end(i)
}

// A refusal for good is no prison: another spec, or the wish to try again, ends it.
func TestRefusedProvisionIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*api.ServiceInstance){
		"AfterAnEdit": func(i *api.ServiceInstance) { i.Spec.Parameters = env.RawJSON(`{"size": 2}`) },
		"AfterAWish":  func(i *api.ServiceInstance) { i.Spec.UpdateRequests++ },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBrokerEnv(t)
			s.broker.On(refusing(osbtest.Status(400, `{"description": "size 1 is too small"}`), osbtest.Provision))
			i := s.db(having(`{"size": 1}`))
			s.Create(i)
			s.stalled(i, "ProvisionCallFailed")
			ready, _ := api.FindCondition(i.Status.Conditions, api.ConditionReady)
			assert.Contains(t, ready.Message, "size 1 is too small")
			assert.Nil(t, i.Status.NextRetry)
			assert.Equal(t, api.DeprovisionNotRequired, i.Status.DeprovisionStatus, "there is nothing to remove")
			s.Change(i, func() { i.Labels = map[string]string{"touched": "1"} })
			require.Len(t, s.broker.Calls(osbtest.Of(osbtest.Provision)), 1, "and nothing is tried by itself")
			s.broker.On(nil)
			s.Change(i, func() { edit(i) })
			s.Ready(i)
			assert.Equal(t, i.Spec.ExternalID, i.Status.ExternalID)
			s.end(i)
		})
	}
}

// refusing has all calls of a verb go wrong.
func refusing(fault osbtest.Fault, verb osbtest.Verb) func(osbtest.Call) osbtest.Fault {
	return func(c osbtest.Call) osbtest.Fault {
		if c.Verb == verb {
			return fault
		}
		return osbtest.Fault{}
	}
}

// One that was refused and never made goes without a call.
func TestRefusedProvisionIsDeletedWithoutACall(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	s.broker.Next(osbtest.Provision, osbtest.Status(400, `{}`))
	i := s.db()
	s.Create(i)
	s.stalled(i, "ProvisionCallFailed")
	s.end(i)
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Deprovision)))
}
