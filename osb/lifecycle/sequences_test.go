package lifecycle

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

var (
	anInstance = scenario{kind: Instance, minted: true}
	aBinding   = scenario{kind: Binding, minted: true}
	fetchable  = scenario{kind: Binding, minted: true, fetchable: true}
)

func ready(t *testing.T, s scenario) *sequence {
	t.Helper()
	a := newSequence(t, s)
	a.does(Provision).answers(osb.Response{Created: true})
	require.True(t, a.resource.Record.holds(v1beta1.ConditionReady))
	return a
}

func TestSequences(t *testing.T) {
	t.Parallel()
	cut := osb.Error{Kind: osb.MaybeReceived}
	gone := osb.Error{Kind: osb.Gone, StatusCode: 410}
	cases := map[string]struct {
		reason string
		run    func(t *testing.T)
	}{
		"GoneTooEarly": {"a request that was cut off may still make something after the broker says that there is nothing", func(t *testing.T) {
			a := newSequence(t, anInstance)
			a.does(Provision).fails(cut)
			a.does(MitigateOrphan).fails(gone)
			require.Equal(t, specID, a.resource.Record.ID)
			a.does(Rest)
			a.now = a.resource.Record.NextRetry
			a.does(MitigateOrphan).fails(gone)
			require.NotEqual(t, specID, a.resource.Record.ID)
		}},
		"PatienceWhileBlocked": {"a broker that asked for patience is not asked earlier because something else was waited for", func(t *testing.T) {
			a := newSequence(t, aBinding)
			a.does(Provision).fails(osb.Error{Kind: osb.Unavailable, StatusCode: 429, RetryAfter: time.Hour})
			until := a.resource.Record.NextRetry
			f := a.facts()
			f.Desired, f.Problem = nil, &Problem{Reason: "ErrorInstanceNotReady", Message: "its instance is being changed", Waits: true}
			a.doesWith(Rest, f)
			require.Equal(t, until, a.resource.Record.NextRetry)
			a.does(Rest)
			a.now = until
			a.does(Provision)
		}},
		"EditEndsPatience": {"an edit ends a broker's wish for patience, also where the edit is blocked first, as by a Secret that is absent", func(t *testing.T) {
			a := ready(t, anInstance)
			a.edit()
			a.does(Update).fails(osb.Error{Kind: osb.Unavailable, StatusCode: 503, RetryAfter: 24 * time.Hour})
			a.does(Rest)
			a.resource.Generation++
			f := a.facts()
			f.Desired, f.Problem = nil, &Problem{Reason: "ErrorWithParameters", Message: "the Secret is not there", Waits: true}
			a.doesWith(Rest, f).doesWith(Rest, f)
			a.does(Update)
		}},
		"EditEndsBackoff": {"the same after a call whose outcome is not known, once it cannot be acted on any more", func(t *testing.T) {
			a := ready(t, anInstance)
			a.edit()
			a.does(Update).fails(cut)
			a.resource.Record.NextRetry = a.now.Add(5 * time.Minute)
			a.does(Rest)
			a.resource.Generation++
			f := a.facts()
			f.Desired, f.Problem = nil, &Problem{Reason: "ErrorWithParameters", Message: "the Secret is not there", Waits: true}
			a.doesWith(Rest, f).doesWith(Rest, f)
			a.does(Rest)
			a.now = a.now.Add(callTimeout)
			a.does(Update)
		}},
		"GoneTooEarlyAtDeletion": {"the same where the user deletes it", func(t *testing.T) {
			a := newSequence(t, anInstance)
			a.does(Provision).fails(cut)
			a.resource.Deleting = true
			a.does(Deprovision).fails(gone)
			require.False(t, a.outcome.Release)
			a.now = a.now.Add(callTimeout)
			a.does(Deprovision).fails(gone)
			require.True(t, a.outcome.Release)
		}},
		"NotThere": {"what a fetch that was woken does not find is made at once, and not at the time at which the next fetch was due", func(t *testing.T) {
			a := newSequence(t, scenario{kind: Instance, fetchable: true})
			a.does(Fetch).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 500})
			a.does(Rest)
			a.resource.Record.NextRetry = a.now.Add(time.Hour)
			f := a.facts()
			f.Woken = true
			a.doesWith(Fetch, f).fails(gone)
			a.does(Provision)
		}},
		"RepeatedAndCut": {"of two requests one may be removed and the other land later", func(t *testing.T) {
			a := newSequence(t, anInstance)
			a.does(Provision).crashes()
			a.does(Rest)
			a.now = a.now.Add(callTimeout)
			require.True(t, a.does(Provision).decision.Again)
			a.fails(cut)
			a.does(Rest)
			a.now = a.now.Add(callTimeout)
			a.does(MitigateOrphan)
		}},
		"EditedAfterCrash": {"what may be there is not what is asked for now", func(t *testing.T) {
			a := newSequence(t, anInstance)
			a.does(Provision).crashes()
			a.now = a.now.Add(callTimeout)
			a.edit()
			a.does(MitigateOrphan).answers(osb.Response{})
			a.now = a.now.Add(time.Minute)
			require.False(t, a.does(Provision).decision.Again)
		}},
		"RefusedAfterCrash": {"what the first request may have made is remembered, and removed when the spec changes", func(t *testing.T) {
			a := newSequence(t, anInstance)
			a.does(Provision).crashes()
			a.now = a.now.Add(callTimeout)
			a.does(Provision).fails(osb.Error{Kind: osb.Rejected, StatusCode: 400})
			a.does(Rest)
			require.True(t, a.resource.mustDeprovision())
			a.edit()
			a.does(MitigateOrphan)
		}},
		"RefusedAtOnce": {"a refusal leaves nothing to remove", func(t *testing.T) {
			a := newSequence(t, anInstance)
			a.does(Provision).fails(osb.Error{Kind: osb.Rejected, StatusCode: 400})
			require.False(t, a.resource.mustDeprovision())
			a.does(Rest)
			a.resource.Deleting = true
			a.does(Release)
			require.Empty(t, a.decision.Warning)
		}},
		"NotFoundOfAnAddress": {"404 is no success where the broker's address may be wrong", func(t *testing.T) {
			a := ready(t, anInstance)
			a.resource.Deleting = true
			f := a.facts()
			f.BrokerReady = false
			a.doesWith(Deprovision, f).fails(osb.Error{Kind: osb.Gone, StatusCode: 404})
			require.False(t, a.outcome.Release)
			a.now = a.now.Add(time.Minute)
			a.does(Deprovision).fails(osb.Error{Kind: osb.Gone, StatusCode: 404})
			require.True(t, a.outcome.Release)
		}},
		"MaintenanceNotAskedFor": {"an update of parameters does not pretend to be an upgrade", func(t *testing.T) {
			a := ready(t, anInstance)
			a.edit()
			f := a.facts()
			f.Desired.MaintenanceVersion = "2.0.0"
			require.False(t, a.resource.Changes(f.Desired).Maintenance)
			a.doesWith(Update, f).answers(osb.Response{})
			require.Empty(t, a.resource.Record.Applied.MaintenanceVersion)
			a.resource.Generation++
			f = a.facts()
			f.Desired.MaintenanceVersion, f.Desired.UpdateRequests = "2.0.0", 1
			a.doesWith(Update, f).answers(osb.Response{})
			require.Equal(t, "2.0.0", a.resource.Record.Applied.MaintenanceVersion)
		}},
		"UpdateNotAllowed": {"a plan change that cannot be is terminal, until the plan is put back", func(t *testing.T) {
			a := ready(t, anInstance)
			a.resource.Generation++
			f := a.facts()
			f.Desired.PlanExternalID, f.Desired.PlanUpdatable = "other", false
			a.doesWith(Rest, f)
			require.True(t, a.resource.Record.failedForGood())
			a.resource.Generation++
			a.does(Rest)
			require.True(t, a.resource.Record.holds(v1beta1.ConditionReady))
		}},
		"UpdateOfUnknownOutcome": {"a change that is taken back is sent too, if the change may have arrived", func(t *testing.T) {
			a := ready(t, anInstance)
			a.edit()
			a.does(Update).fails(cut)
			a.edit()
			a.now = a.now.Add(callTimeout)
			a.does(Update).fails(osb.Error{Kind: osb.Rejected, StatusCode: 400})
			a.does(Rest)
			require.True(t, a.resource.Record.failedForGood())
			a.resource.Generation++
			a.does(Update).answers(osb.Response{})
			a.does(Rest)
			require.Nil(t, a.resource.Record.InProgress)
		}},
		"UpdateThatMayArrive": {"an edit waits while an update that was cut off may be acted on, which would undo it; one that was answered by an error is not waited for", func(t *testing.T) {
			a := ready(t, anInstance)
			a.edit()
			a.does(Update).fails(cut)
			a.edit()
			a.does(Rest)
			require.Equal(t, a.resource.Record.Deadline.Sub(a.now), a.decision.After)
			require.Positive(t, a.decision.After)
			a.now = a.now.Add(callTimeout)
			a.does(Update).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 500})
			a.edit()
			a.does(Update).answers(osb.Response{})
			a.does(Rest)
			require.True(t, a.resource.Record.holds(v1beta1.ConditionReady))
		}},
		"DeletedDuringAnUpdate": {"a deletion does not wait for an update that was cut off", func(t *testing.T) {
			a := ready(t, anInstance)
			a.edit()
			a.does(Update).fails(cut)
			a.resource.Deleting = true
			a.does(Deprovision)
		}},
		"DeletedDuringAnothersUpdate": {"it does wait for that of another process, whose call may still be sent", func(t *testing.T) {
			a := ready(t, anInstance)
			a.edit()
			a.does(Update).crashes()
			a.resource.Deleting = true
			a.does(Rest)
			require.Equal(t, a.resource.Record.Deadline.Sub(a.now), a.decision.After)
			a.now = a.now.Add(callTimeout)
			a.does(Deprovision)
		}},
		"UpdateTooLong": {"an update that does not end fails, and the next is sent", func(t *testing.T) {
			a := ready(t, anInstance)
			a.edit()
			a.does(Update).answers(osb.Response{Async: true})
			a.now = a.now.Add(maxPolling + time.Hour)
			a.does(Poll).polls(osb.LastOperation{State: osb.InProgress})
			require.True(t, a.resource.Record.failedForGood())
			a.edit()
			a.does(Update)
		}},
		"Unusable": {"what the broker says of use holds until it was updated", func(t *testing.T) {
			a := ready(t, anInstance)
			a.edit()
			a.does(Update).answers(osb.Response{Async: true})
			a.does(Poll).polls(osb.LastOperation{State: osb.Failed, Usable: new(false)})
			require.True(t, a.resource.Record.Unusable)
			a.edit()
			a.does(Update).answers(osb.Response{})
			require.False(t, a.resource.Record.Unusable)
		}},
		"PollClockBeginsAnew": {"the time for an operation begins when the broker takes it on", func(t *testing.T) {
			a := ready(t, anInstance)
			a.resource.Deleting = true
			a.does(Deprovision).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 500})
			a.now = a.now.Add(2 * maxPolling)
			a.does(Deprovision).answers(osb.Response{Async: true})
			a.does(Poll).polls(osb.LastOperation{State: osb.InProgress})
			require.True(t, a.resource.Record.Async)
		}},
		"RetryAfterOutlivesUs": {"a long wait is known to the next process too", func(t *testing.T) {
			a := newSequence(t, anInstance)
			a.does(Provision).answers(osb.Response{Async: true})
			a.does(Poll).polls(osb.LastOperation{State: osb.InProgress, RetryAfter: time.Hour})
			a.does(Rest)
			require.InDelta(t, time.Hour, a.decision.After, float64(time.Second))
			a.now = a.now.Add(2 * time.Hour)
			a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded})
			require.True(t, a.resource.Record.holds(v1beta1.ConditionReady))
		}},
		"MitigationIsPatient": {"503 with Retry-After is granted before what it left is removed", func(t *testing.T) {
			a := newSequence(t, anInstance)
			a.does(Provision).fails(osb.Error{Kind: osb.Unavailable, StatusCode: 503, RetryAfter: time.Hour})
			a.does(Rest)
			a.now = a.now.Add(time.Hour)
			a.does(MitigateOrphan)
		}},
		"ClockAhead": {"what another clock wrote is not waited for longer than a call can take", func(t *testing.T) {
			a := newSequence(t, anInstance)
			a.does(Provision).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 400})
			a.resource.Record.Operation, a.resource.Record.Deadline = Provisioning, a.now.Add(300*24*time.Hour)
			a.does(Rest)
			require.Equal(t, longestDeadline, a.decision.After)
			require.Equal(t, a.now.Add(longestDeadline), a.resource.Record.Deadline, "stored, so that the wait ends")
			a.now = a.now.Add(longestDeadline)
			a.does(MitigateOrphan).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 500})
			a.resource.Record.NextRetry = a.now.Add(300 * 24 * time.Hour)
			a.does(Rest)
			require.Equal(t, osb.LongestWait, a.decision.After)
			a.now = a.now.Add(osb.LongestWait)
			a.does(MitigateOrphan)
		}},
		"StartedByAnotherClock": {"an operation that began in the future ends no later than one that begins now", func(t *testing.T) {
			a := newSequence(t, anInstance)
			a.does(Provision).answers(osb.Response{Async: true})
			a.resource.Record.Started = a.now.Add(300 * 24 * time.Hour)
			a.does(Poll).polls(osb.LastOperation{State: osb.InProgress})
			require.False(t, a.resource.Record.Started.After(a.now), "stored, so that it ends")
			a.now = a.now.Add(maxPolling + time.Second)
			a.does(Poll).polls(osb.LastOperation{State: osb.InProgress})
			require.True(t, a.resource.Record.holds(v1beta1.ConditionFailed))
		}},
		"HeldMitigation": {"a failed thing that waits for its broker stays stalled", func(t *testing.T) {
			a := newSequence(t, anInstance)
			a.does(Provision).answers(osb.Response{Async: true})
			a.does(Poll).polls(osb.LastOperation{State: osb.Failed})
			f := a.facts()
			f.HeldBecause = "it does not answer"
			a.doesWith(Rest, f)
			require.True(t, a.resource.Record.holds(v1beta1.ConditionStalled))
		}},
		"HeldAndThenNothing": {"a wait that is not needed any more is forgotten", func(t *testing.T) {
			a := ready(t, aBinding)
			a.env.secret = false
			f := a.facts()
			f.HeldBecause = "it does not answer"
			a.doesWith(Rest, f)
			a.env.secret = true
			a.does(Rest)
			require.False(t, a.resource.Record.holds(v1beta1.ConditionReconciling))
			require.Zero(t, a.resource.Record.NextRetry)
		}},
		"BindingKeepsReady": {"a problem of its instance is none of a binding that is complete", func(t *testing.T) {
			a := ready(t, aBinding)
			f := a.facts()
			f.Desired, f.Problem = nil, &Problem{Reason: "InstanceNotReady", Message: "wait", Waits: true}
			a.doesWith(Rest, f)
			require.True(t, a.resource.Record.holds(v1beta1.ConditionReady))
			f.SecretLost = true
			a.doesWith(Rest, f)
			require.False(t, a.resource.Record.holds(v1beta1.ConditionReady))
		}},
		"SecretLostFetched": {"lost credentials are fetched where they can be", func(t *testing.T) {
			a := ready(t, fetchable)
			a.env.secret = false
			a.does(Fetch).responds(CallResult{Credentials: NotStored, StoreProblem: "no"})
			a.now = a.now.Add(time.Minute)
			a.does(Fetch).responds(CallResult{Credentials: Stored})
			require.True(t, a.resource.Record.holds(v1beta1.ConditionReady))
		}},
		"SecretLostAndConflict": {"if they can neither be fetched nor requested again, a new binding is made", func(t *testing.T) {
			a := ready(t, aBinding)
			a.env.secret = false
			a.does(Provision).fails(osb.Error{Kind: osb.Conflict, StatusCode: 409})
			a.does(MitigateOrphan).answers(osb.Response{})
			require.NotEqual(t, specID, a.resource.Record.ID)
		}},
		"AsyncNotFetchable": {"a bind that was asynchronous, of an offering that cannot be read, is asked for again", func(t *testing.T) {
			a := newSequence(t, aBinding)
			a.does(Provision).answers(osb.Response{Async: true})
			a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded})
			require.True(t, a.does(Provision).decision.Again)
			for !a.resource.Record.Mitigating {
				a.answers(osb.Response{Async: true})
				a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded})
				a.now = a.now.Add(time.Hour)
				a.decided = a.facts()
				a.decision = Next(a.resource, a.decided)
			}
			require.EqualValues(t, triesForCredentials+1, a.resource.Record.Retries)
		}},
		"AsyncNotFetchableAfterManyFailures": {"whatever failed before, the credentials of a new binding are asked for", func(t *testing.T) {
			a := newSequence(t, aBinding)
			for range 2 * triesForCredentials {
				a.does(Provision).fails(osb.Error{Kind: osb.Unavailable, StatusCode: 429})
				a.now = a.now.Add(time.Hour)
			}
			a.does(Provision).answers(osb.Response{Async: true})
			a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded})
			require.True(t, a.does(Provision).decision.Again)
			a.responds(CallResult{Response: &osb.Response{}, Credentials: Stored})
			require.True(t, a.resource.Record.holds(v1beta1.ConditionReady))
		}},
		"AsyncNotFetchableRefused": {"a binding that was made, and whose credentials are refused, is removed", func(t *testing.T) {
			a := newSequence(t, aBinding)
			a.does(Provision).answers(osb.Response{Async: true})
			a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded})
			a.does(Provision).fails(osb.Error{Kind: osb.Rejected, StatusCode: 400})
			require.True(t, a.resource.Record.failedForGood())
			a.does(MitigateOrphan).answers(osb.Response{})
			a.does(Rest)
		}},
		"NoCredentialsAtAll": {"a broker that makes bindings without credentials is not asked again and again", func(t *testing.T) {
			a := newSequence(t, aBinding)
			a.does(Provision).responds(CallResult{Response: &osb.Response{Created: true}})
			require.True(t, a.resource.Record.failedForGood())
			a.does(MitigateOrphan).answers(osb.Response{})
			a.does(Rest)
		}},
		"BrokerDownWhileFetching": {"a new binding is not undone because its broker is away", func(t *testing.T) {
			a := newSequence(t, fetchable)
			a.does(Provision).answers(osb.Response{Async: true})
			a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded})
			for range 3 * triesForCredentials {
				a.does(Fetch).fails(osb.Error{Kind: osb.NeverSent})
				a.now = a.now.Add(time.Hour)
			}
			require.False(t, a.resource.Record.Mitigating)
		}},
		"AdoptedTriesOn": {"an ID that is not ours is asked for again after a timeout, and never mitigated", func(t *testing.T) {
			a := newSequence(t, scenario{kind: Instance})
			a.does(Provision).fails(osb.Error{Kind: osb.MaybeReceived})
			require.False(t, a.resource.Record.failedForGood())
			a.now = a.now.Add(time.Hour)
			a.does(Provision).answers(osb.Response{})
			require.Equal(t, ReasonAdopted, a.outcome.Event.Reason)
			a.resource.Deleting = true
			a.does(Release)
			require.NotEmpty(t, a.decision.Warning)
			a.resource.DeprovisionAdopted = true
			a.does(Deprovision)
		}},
		"AdoptedNotStored": {"credentials of an ID that is not ours are asked for again", func(t *testing.T) {
			a := newSequence(t, scenario{kind: Binding})
			a.does(Provision).responds(CallResult{Response: &osb.Response{}, Credentials: NotStored})
			a.now = a.now.Add(time.Hour)
			a.does(Provision).responds(CallResult{Response: &osb.Response{}})
			require.True(t, a.resource.Record.failedForGood())
		}},
		"ConflictOfNothing": {"what is said to be there, and is never found, is made", func(t *testing.T) {
			a := newSequence(t, scenario{kind: Instance, minted: true, fetchable: true})
			a.does(Provision).fails(osb.Error{Kind: osb.Conflict, StatusCode: 409})
			for range triesForConflict + 1 {
				a.does(Fetch).fails(osb.Error{Kind: osb.Gone, StatusCode: 404})
				a.now = a.now.Add(time.Hour)
			}
			a.does(Provision)
		}},
		"FetchedInVain": {"a new binding whose credentials the broker cannot give is undone", func(t *testing.T) {
			for _, e := range []osb.Error{{Kind: osb.Rejected, StatusCode: 400}, {Kind: osb.Gone, StatusCode: 404}} {
				a := newSequence(t, fetchable)
				a.does(Provision).answers(osb.Response{Async: true})
				a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded})
				tries := 0
				for ; !a.resource.Record.Mitigating; tries++ {
					a.does(Fetch).fails(e)
					a.now = later(a.now, a.resource.Record.NextRetry)
				}
				require.Greater(t, tries, triesForCredentials)
				a.does(MitigateOrphan)
			}
		}},
		"FetchedInVainAgain": {"a binding that is made again and again is made ever more rarely", func(t *testing.T) {
			a := newSequence(t, fetchable)
			waited := time.Duration(0)
			for range 6 {
				a.does(Provision).answers(osb.Response{Async: true})
				a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded})
				a.does(Fetch).responds(CallResult{Credentials: NotStored, StoreProblem: "no"})
				a.does(MitigateOrphan).answers(osb.Response{})
				require.Greater(t, a.resource.Record.NextRetry.Sub(a.now), waited)
				waited = a.resource.Record.NextRetry.Sub(a.now)
				a.now = a.resource.Record.NextRetry
			}
		}},
		"FetchedWithoutCredentials": {"what a first fetch holds is believed once, also if it was begun by a controller that died", func(t *testing.T) {
			for _, dies := range []bool{false, true} {
				a := newSequence(t, fetchable)
				a.does(Provision).answers(osb.Response{Async: true})
				a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded})
				require.True(t, a.does(Fetch).decision.First)
				if !dies {
					a.responds(CallResult{Credentials: Stored, EmptyBecause: "the broker gave no credentials"})
					ready, _ := v1beta1.FindCondition(a.resource.Record.Conditions, v1beta1.ConditionReady)
					require.Equal(t, v1beta1.ConditionTrue, ready.Status)
					require.Equal(t, "the Secret is empty: the broker gave no credentials", ready.Message)
					require.Equal(t, ready.Message, a.outcome.Event.Message)
					a.env.secret = true
					a.resource.Generation++
					a.does(Rest)
					again, _ := v1beta1.FindCondition(a.resource.Record.Conditions, v1beta1.ConditionReady)
					require.Equal(t, ready.Message, again.Message, "an edit that asks for nothing new is no news")
					continue
				}
				a.crashes()
				require.False(t, a.does(Fetch).decision.First)
				a.responds(CallResult{})
				a.does(MitigateOrphan)
			}
		}},
		"AskedForWithoutCredentials": {"as is the answer to the first request that asks for them", func(t *testing.T) {
			a := newSequence(t, aBinding)
			a.does(Provision).answers(osb.Response{Async: true})
			a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded})
			require.True(t, a.does(Provision).decision.First)
			a.crashes()
			a.now = a.now.Add(time.Hour)
			require.False(t, a.does(Provision).decision.First)
		}},
		"FetchedAfterALostAnswer": {"a fetch after an answer that was lost is no first one", func(t *testing.T) {
			a := newSequence(t, fetchable)
			a.does(Provision).crashes()
			a.now = a.now.Add(time.Hour)
			a.does(Provision).responds(CallResult{Response: &osb.Response{}})
			require.False(t, a.does(Fetch).decision.First)
		}},
		"CredentialsGone": {"a binding that its broker forgot is made again", func(t *testing.T) {
			a := ready(t, fetchable)
			a.env.secret = false
			a.does(Fetch).fails(osb.Error{Kind: osb.Gone, StatusCode: 404})
			a.does(MitigateOrphan)
		}},
		"FetchRepeated": {"credentials come in the answer to a repeated bind, or are fetched", func(t *testing.T) {
			a := newSequence(t, fetchable)
			a.does(Provision).responds(CallResult{Response: &osb.Response{}})
			a.does(Fetch).responds(CallResult{Credentials: Stored})
			require.True(t, a.resource.Record.holds(v1beta1.ConditionReady))
		}},
		"AskedForNothingNew": {"a request to update that changes nothing is served", func(t *testing.T) {
			a := ready(t, anInstance)
			a.resource.Generation++
			f := a.facts()
			f.Desired.UpdateRequests = 7
			a.doesWith(Rest, f)
			require.EqualValues(t, 7, a.resource.Record.Applied.UpdateRequests)
		}},
		"RemovalOfNobody": {"a removal that was recorded, of what is not deleted: it is made", func(t *testing.T) {
			a := newSequence(t, anInstance)
			a.resource.Record.Operation = Deprovisioning
			a.does(Provision)
		}},
		"FetchableNoMore": {"what was to be fetched is asked for again where it cannot be fetched any more", func(t *testing.T) {
			a := newSequence(t, fetchable)
			a.does(Provision).answers(osb.Response{Async: true})
			a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded})
			a.scenario.fetchable = false
			require.True(t, a.does(Provision).decision.Again)
		}},
		"RemovalForgotten": {"a removal that no poll knows is asked for again, and not at once every time", func(t *testing.T) {
			a := ready(t, anInstance)
			a.resource.Deleting = true
			a.does(Deprovision).answers(osb.Response{Async: true})
			for range pollsBeforeAsking {
				a.does(Poll).fails(osb.Error{Kind: osb.NotFound, StatusCode: 404})
			}
			a.does(Rest)
			a.now = a.now.Add(time.Minute)
			a.does(Deprovision).fails(gone)
			require.True(t, a.outcome.Release)
		}},
		"BrokerGone": {"a deletion ends without its broker, and says so; a mitigation waits for it", func(t *testing.T) {
			a := newSequence(t, anInstance)
			a.does(Provision).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 500})
			f := a.facts()
			f.BrokerGone = true
			a.doesWith(Rest, f)
			a.resource.Deleting = true
			f = a.facts()
			f.BrokerGone = true
			a.doesWith(Release, f)
			require.NotEmpty(t, a.decision.Warning)
		}},
		"Abandoned": {"a person may let it go", func(t *testing.T) {
			a := ready(t, anInstance)
			a.resource.Deleting, a.resource.Abandoned = true, true
			a.does(Release)
			require.NotEmpty(t, a.decision.Warning)
		}},
		"NoID": {"what admission gave no ID gets one, and it is its own", func(t *testing.T) {
			a := newSequence(t, anInstance)
			a.resource.SpecID, a.resource.Minted = "", false
			a.does(Provision).answers(osb.Response{Created: true})
			require.NotEmpty(t, a.resource.Record.ID)
			require.True(t, a.resource.mustDeprovision())
		}},
		"NotOurError": {"what kept a call from being made was never sent", func(t *testing.T) {
			a := newSequence(t, anInstance)
			a.does(Provision).responds(CallResult{Err: errors.New("no Secret")})
			require.False(t, a.resource.mustDeprovision())
			require.False(t, a.resource.Record.Mitigating)
		}},
		"Relist": {"a maintenance conflict says that the catalog is old", func(t *testing.T) {
			a := newSequence(t, anInstance)
			a.does(Provision).fails(osb.Error{Kind: osb.MaintenanceConflict, StatusCode: 422})
			require.True(t, a.outcome.Relist)
		}},
		"RestHasNoReply": {"a rest changes nothing", func(t *testing.T) {
			a := ready(t, anInstance)
			a.does(Rest)
			require.Equal(t, a.decision.Record, a.resource.HandleResult(a.decision, CallResult{}, a.facts()).Record)
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(tc.reason)
			tc.run(t)
		})
	}
}
