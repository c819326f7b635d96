package lifecycle

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

var aClaim = scenario{kind: Binding, minted: true, claim: true}

// readyOf is the condition Ready of what is stored.
func readyOf(a *sequence) v1beta1.Condition {
	c, _ := v1beta1.FindCondition(a.resource.Record.Conditions, v1beta1.ConditionReady)
	return c
}

// with are the facts with a problem.
func (a *sequence) with(p Problem) Facts {
	f := a.facts()
	f.Desired, f.Problem = nil, &p
	return f
}

func TestClaimSequences(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason string
		run    func(t *testing.T)
	}{
		"UnboundAndThere":    {"the unbind is told, and the binding stays until its instance is gone", unboundAndThere},
		"NeverBound":         {"what was never bound waits for its instance too, and asks no broker", neverBound},
		"Abandoned":          {"what is abandoned keeps its instance no longer, and says so once", abandonedClaim},
		"BrokerGone":         {"an instance waits for no unbind that can never be", brokerOfClaimGone},
		"InstanceFailed":     {"the binding is Failed as long as its instance is, and no longer", instanceFailed},
		"InstanceGone":       {"a binding that is bound is not ready any more, whatever its Secret holds", instanceGone},
		"OwnFailureStays":    {"a bind that was refused is not tried again because the instance does well", ownFailureStays},
		"FailedThenRetrying": {"what is said of the instance follows it", failedThenRetrying},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(test.reason)
			test.run(t)
		})
	}
}

func unboundAndThere(t *testing.T) {
	a := ready(t, aClaim)
	a.resource.Deleting = true
	a.does(Deprovision).answers(osb.Response{})
	require.False(t, a.outcome.Release)
	assert.Equal(t, "UnboundSuccessfully", a.outcome.Event.Reason)
	assert.Equal(t, DeprovisionSucceeded, a.resource.Record.DeprovisionStatus)
	assert.True(t, a.resource.Parted())
	assert.Equal(t, "Deprovisioning", readyOf(a).Reason)
	a.does(Rest)
	assert.Nil(t, a.decision.Event)
	a.remains = false
	a.does(Release)
	assert.Empty(t, a.decision.Warning)
}

func neverBound(t *testing.T) {
	a := newSequence(t, aClaim)
	a.resource.Deleting = true
	a.does(Rest)
	assert.True(t, a.resource.Parted())
	assert.Nil(t, a.decision.Event)
	a.remains = false
	a.does(Release)
}

func abandonedClaim(t *testing.T) {
	a := ready(t, aClaim)
	a.resource.Deleting, a.resource.Abandoned = true, true
	assert.False(t, a.resource.Parted(), "it may be at the broker")
	a.does(Rest)
	require.NotNil(t, a.decision.Event)
	assert.Equal(t, ReasonAbandoned, a.decision.Event.Reason)
	assert.True(t, a.resource.Parted())
	a.does(Rest)
	assert.Nil(t, a.decision.Event, "it is told once")
	a.remains = false
	a.does(Release)
}

func brokerOfClaimGone(t *testing.T) {
	a := ready(t, aClaim)
	a.resource.Deleting = true
	f := a.facts()
	f.BrokerGone = true
	a.doesWith(Rest, f)
	assert.Contains(t, a.decision.Event.Message, "not registered any more")
	assert.True(t, a.resource.Parted())
}

var refusedInstance = Problem{Reason: "ProvisionCallFailed", Message: "it does not like it", Failed: true}

func instanceFailed(t *testing.T) {
	a := newSequence(t, aClaim)
	a.doesWith(Rest, a.with(refusedInstance))
	require.True(t, a.resource.Record.failedForGood())
	assert.Equal(t, "ProvisionCallFailed", readyOf(a).Reason)
	assert.True(t, a.resource.Record.holds(v1beta1.ConditionStalled))
	before := snapshot(t, a.resource.Record)
	a.doesWith(Rest, a.with(refusedInstance))
	assert.Equal(t, before, snapshot(t, a.resource.Record), "it does not flap")
	a.does(Provision)
	assert.False(t, a.decision.Record.failedForGood(), "the instance was mended")
	assert.Empty(t, a.decision.Record.Refused)
}

func failedThenRetrying(t *testing.T) {
	a := newSequence(t, aClaim)
	a.doesWith(Rest, a.with(refusedInstance))
	a.doesWith(Rest, a.with(Problem{Reason: "ProvisionRequestInFlight", Message: "again", Waits: true}))
	assert.False(t, a.resource.Record.failedForGood())
	assert.Equal(t, v1beta1.ConditionUnknown, readyOf(a).Status)
	assert.Equal(t, "ProvisionRequestInFlight", readyOf(a).Reason)
	assert.False(t, a.resource.Record.holds(v1beta1.ConditionStalled))
}

func instanceGone(t *testing.T) {
	a := ready(t, aClaim)
	a.doesWith(Rest, a.with(Problem{Reason: "Other", Message: "others wait", Waits: true}))
	require.Equal(t, v1beta1.ConditionTrue, readyOf(a).Status, "what keeps others is nothing to it")
	a.doesWith(Rest, a.with(Problem{Reason: "InstanceGone", Message: "gone", Voids: true}))
	assert.Equal(t, v1beta1.ConditionFalse, readyOf(a).Status)
	assert.Equal(t, "InstanceGone", readyOf(a).Reason)
	assert.True(t, a.resource.Record.holds(v1beta1.ConditionStalled))
	assert.True(t, a.resource.mustDeprovision(), "the broker is still asked to unbind")
}

func ownFailureStays(t *testing.T) {
	a := newSequence(t, aClaim)
	a.does(Provision).fails(osb.Error{Kind: osb.Rejected, StatusCode: 400})
	require.True(t, a.resource.Record.failedForGood())
	a.does(Rest)
	a.doesWith(Rest, a.with(refusedInstance))
	assert.Equal(t, "BindCallFailed", readyOf(a).Reason, "it says what is its own")
}
