package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

// What the broker took on after a try that failed is told in the words of what it works on: it is
// not ready still, but not because of that try.
func TestConditionsForgetAFailedTry(t *testing.T) {
	t.Parallel()
	refused := osb.Error{Kind: osb.Concurrency, StatusCode: 422, Description: "another operation runs"}
	deleted := func(s scenario) func(*testing.T) *sequence {
		return func(t *testing.T) *sequence {
			a := ready(t, s)
			a.resource.Generation++
			a.resource.Deleting = true
			return a
		}
	}
	for name, tc := range map[string]struct {
		start func(*testing.T) *sequence
		step  Step
		works string
	}{
		"Provision":   {start: func(t *testing.T) *sequence { return newSequence(t, anInstance) }, step: Provision, works: "Provisioning"},
		"Bind":        {start: func(t *testing.T) *sequence { return newSequence(t, aBinding) }, step: Provision, works: "Binding"},
		"Update":      {start: func(t *testing.T) *sequence { a := ready(t, anInstance); a.edit(); return a }, step: Update, works: "UpdatingInstance"},
		"Deprovision": {start: deleted(anInstance), step: Deprovision, works: "Deprovisioning"},
		"Unbind":      {start: deleted(aBinding), step: Deprovision, works: "Unbinding"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := tc.start(t)
			a.does(tc.step).fails(refused)
			require.Contains(t, readyOf(a).Message, "another operation runs")
			a.now = a.resource.Record.NextRetry
			a.does(tc.step).answers(osb.Response{Async: true})
			tells(t, a, tc.works)
			a.does(Poll).polls(osb.LastOperation{State: osb.InProgress, Description: "half of it"})
			tells(t, a, tc.works)
			require.Contains(t, readyOf(a).Message, "half of it")
		})
	}
}

// tells expects one word in all conditions of what is worked on.
func tells(t *testing.T, a *sequence, works string) {
	t.Helper()
	working, _ := v1beta1.FindCondition(a.resource.Record.Conditions, v1beta1.ConditionReconciling)
	require.Equal(t, v1beta1.ConditionFalse, readyOf(a).Status, "it does not flap")
	require.Equal(t, []string{works, works}, []string{readyOf(a).Reason, working.Reason})
	require.Equal(t, working.Message, readyOf(a).Message)
}

// How a mitigation goes is told in a condition of its own, and is over with it: Ready says why
// the try before it failed.
func TestConditionsOfAMitigation(t *testing.T) {
	t.Parallel()
	tells := func(a *sequence, reason, word string) {
		t.Helper()
		mitigation, _ := v1beta1.FindCondition(a.resource.Record.Conditions, v1beta1.ConditionOrphanMitigation)
		working, _ := v1beta1.FindCondition(a.resource.Record.Conditions, v1beta1.ConditionReconciling)
		require.Equal(t, []string{reason, reason}, []string{mitigation.Reason, working.Reason})
		require.Contains(t, mitigation.Message, word)
		require.Equal(t, mitigation.Message, working.Message)
		require.Contains(t, readyOf(a).Message, "no room", "why it was tried in vain stays")
	}
	a := newSequence(t, anInstance)
	a.does(Provision).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 500, Description: "no room"})
	a.does(MitigateOrphan).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 500, Description: "not now"})
	tells(a, "OrphanMitigationFailed", "not now")
	a.now = a.now.Add(time.Minute)
	a.does(MitigateOrphan).answers(osb.Response{Async: true})
	tells(a, "StartingInstanceOrphanMitigation", "is being removed")
	a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded})
	require.Equal(t, "ProvisionCallFailed", readyOf(a).Reason)
	require.Contains(t, readyOf(a).Message, "no room")
	require.NotContains(t, snapshotOf(&a.resource.Record), "not now")
}

// Where no try failed, and its outcome is not known all the same, Ready tells of the mitigation.
func TestConditionsOfAMitigationAfterACrash(t *testing.T) {
	t.Parallel()
	a := newSequence(t, anInstance)
	a.does(Provision).crashes()
	a.edit()
	a.now = a.now.Add(time.Hour)
	a.does(MitigateOrphan).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 500, Description: "not now"})
	require.Equal(t, "OrphanMitigationFailed", readyOf(a).Reason)
	a.now = a.now.Add(time.Hour)
	a.does(MitigateOrphan).answers(osb.Response{})
	require.Equal(t, "OrphanMitigationSuccessful", readyOf(a).Reason)
	require.NotContains(t, snapshotOf(&a.resource.Record), "not now")
}

// Credentials that are fetched after a try that failed are told of in words of their own.
func TestConditionsForgetAFailedTryAtTheFetch(t *testing.T) {
	t.Parallel()
	a := newSequence(t, fetchable)
	a.does(Provision).fails(osb.Error{Kind: osb.Concurrency, StatusCode: 422, Description: "another operation runs"})
	a.now = a.resource.Record.NextRetry
	a.does(Provision).responds(CallResult{Response: &osb.Response{}})
	tells(t, a, "Binding")
}

// A poll that fails is told with the broker's words, each time, until one goes well: the operation
// goes on, for all we know.
func TestConditionsOfAFailedPoll(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		start func(*testing.T) *sequence
		step  Step
		works string
	}{
		"Provision":   {func(t *testing.T) *sequence { return newSequence(t, anInstance) }, Provision, "Provisioning"},
		"Bind":        {func(t *testing.T) *sequence { return newSequence(t, aBinding) }, Provision, "Binding"},
		"Update":      {func(t *testing.T) *sequence { a := ready(t, anInstance); a.edit(); return a }, Update, "UpdatingInstance"},
		"Deprovision": {func(t *testing.T) *sequence { a := ready(t, anInstance); a.resource.Deleting = true; return a }, Deprovision, "Deprovisioning"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := tc.start(t)
			a.does(tc.step).answers(osb.Response{Async: true})
			for range 3 {
				a.does(Poll).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 500, Description: "out of order"})
				working, _ := v1beta1.FindCondition(a.resource.Record.Conditions, v1beta1.ConditionReconciling)
				require.Equal(t, []string{"ErrorPollingLastOperation", "ErrorPollingLastOperation"}, []string{readyOf(a).Reason, working.Reason})
				require.Equal(t, v1beta1.ConditionUnknown, readyOf(a).Status, "there is nothing to do for a person")
				require.Contains(t, readyOf(a).Message, "out of order; ")
				require.Contains(t, readyOf(a).Message, "polled again")
				require.Equal(t, &Event{Warning: true, Reason: "ErrorPollingLastOperation", Message: readyOf(a).Message}, a.outcome.Event)
				require.Zero(t, a.resource.Record.Retries, "the operation has not failed")
				require.Positive(t, a.outcome.After)
			}
			for _, e := range []osb.Error{{Kind: osb.MaybeReceived}, {Kind: osb.NeverSent}, {Kind: osb.BrokerFault, StatusCode: 200, Malformed: true}} {
				a.does(Poll).fails(e)
				require.Equal(t, "ErrorPollingLastOperation", readyOf(a).Reason)
				require.Equal(t, "ErrorPollingLastOperation", a.outcome.Event.Reason)
			}
			a.does(Poll).polls(osb.LastOperation{State: osb.InProgress})
			require.Equal(t, tc.works, readyOf(a).Reason)
			require.Nil(t, a.outcome.Event)
		})
	}
}

// So is that of a mitigation, also where nothing more is tried after it.
func TestConditionsOfAFailedPollOfAMitigation(t *testing.T) {
	t.Parallel()
	a := newSequence(t, anInstance)
	a.does(Provision).answers(osb.Response{Async: true})
	a.does(Poll).polls(osb.LastOperation{State: osb.Failed, Description: "no room"})
	a.does(MitigateOrphan).answers(osb.Response{Async: true})
	a.does(Poll).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 500})
	told, _ := v1beta1.FindCondition(a.resource.Record.Conditions, v1beta1.ConditionOrphanMitigation)
	require.Equal(t, "ErrorPollingLastOperation", told.Reason)
	require.Contains(t, readyOf(a).Message, "no room")
	require.True(t, a.resource.Record.holds(v1beta1.ConditionStalled))
	a.does(Poll).polls(osb.LastOperation{State: osb.InProgress})
	told, _ = v1beta1.FindCondition(a.resource.Record.Conditions, v1beta1.ConditionOrphanMitigation)
	require.Equal(t, "StartingInstanceOrphanMitigation", told.Reason)
}

// A poll that fails is no failure of the rotation that it belongs to.
func TestFailedPollOfARotation(t *testing.T) {
	t.Parallel()
	for _, role := range []v1beta1.RotationRole{v1beta1.RotationSuccessor, v1beta1.RotationPredecessor} {
		a := newSequence(t, aBinding)
		a.does(Provision).answers(osb.Response{Async: true})
		a.does(Poll).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 500})
		a.outcome.Rotates(role, &a.decided)
		require.Equal(t, "ErrorPollingLastOperation", a.outcome.Event.Reason)
	}
}
