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
	anInstance = scene{kind: Instance, minted: true}
	aBinding   = scene{kind: Binding, minted: true}
	fetchable  = scene{kind: Binding, minted: true, fetchable: true}
)

func ready(t *testing.T, s scene) *tale {
	t.Helper()
	a := newTale(t, s)
	a.does(Make).answers(osb.Response{Created: true})
	require.True(t, a.thing.Record.holds(v1beta1.ConditionReady))
	return a
}

func TestTales(t *testing.T) {
	t.Parallel()
	cut := osb.Error{Kind: osb.MaybeReceived}
	gone := osb.Error{Kind: osb.Gone, StatusCode: 410}
	cases := map[string]struct {
		reason string
		tell   func(t *testing.T)
	}{
		"GoneTooEarly": {"a request that was cut off may still make something after the broker says that there is nothing", func(t *testing.T) {
			a := newTale(t, anInstance)
			a.does(Make).fails(cut)
			a.does(Mitigate).fails(gone)
			require.Equal(t, specID, a.thing.Record.ID)
			a.does(Rest)
			a.now = a.thing.Record.NextRetry
			a.does(Mitigate).fails(gone)
			require.NotEqual(t, specID, a.thing.Record.ID)
		}},
		"PatienceWhileBlocked": {"a broker that asked for patience is not asked earlier because something else was waited for", func(t *testing.T) {
			a := newTale(t, aBinding)
			a.does(Make).fails(osb.Error{Kind: osb.Unavailable, StatusCode: 429, RetryAfter: time.Hour})
			until := a.thing.Record.NextRetry
			f := a.facts()
			f.Ask, f.Problem = nil, &Problem{Reason: "ErrorInstanceNotReady", Message: "its instance is being changed", Waits: true}
			a.doesWith(Rest, f)
			require.Equal(t, until, a.thing.Record.NextRetry)
			a.does(Rest)
			a.now = until
			a.does(Make)
		}},
		"EditEndsPatience": {"an edit ends a broker's wish for patience, also where the edit is blocked first, as by a Secret that is absent", func(t *testing.T) {
			a := ready(t, anInstance)
			a.edit()
			a.does(Change).fails(osb.Error{Kind: osb.Unavailable, StatusCode: 503, RetryAfter: 24 * time.Hour})
			a.does(Rest)
			a.thing.Generation++
			f := a.facts()
			f.Ask, f.Problem = nil, &Problem{Reason: "ErrorWithParameters", Message: "the Secret is not there", Waits: true}
			a.doesWith(Rest, f).doesWith(Rest, f)
			a.does(Change)
		}},
		"EditEndsBackoff": {"the same after a call whose outcome is not known", func(t *testing.T) {
			a := ready(t, anInstance)
			a.edit()
			a.does(Change).fails(cut)
			a.thing.Record.NextRetry = a.now.Add(5 * time.Minute)
			a.does(Rest)
			a.thing.Generation++
			f := a.facts()
			f.Ask, f.Problem = nil, &Problem{Reason: "ErrorWithParameters", Message: "the Secret is not there", Waits: true}
			a.doesWith(Rest, f).doesWith(Rest, f)
			a.does(Change)
		}},
		"GoneTooEarlyAtDeletion": {"the same where the user deletes it", func(t *testing.T) {
			a := newTale(t, anInstance)
			a.does(Make).fails(cut)
			a.thing.Deleting = true
			a.does(Remove).fails(gone)
			require.False(t, a.outcome.Release)
			a.now = a.now.Add(callTimeout)
			a.does(Remove).fails(gone)
			require.True(t, a.outcome.Release)
		}},
		"RepeatedAndCut": {"of two requests one may be removed and the other land later", func(t *testing.T) {
			a := newTale(t, anInstance)
			a.does(Make).crashes()
			a.does(Rest)
			a.now = a.now.Add(callTimeout)
			require.True(t, a.does(Make).decision.Again)
			a.fails(cut)
			a.does(Rest)
			a.now = a.now.Add(callTimeout)
			a.does(Mitigate)
		}},
		"EditedAfterCrash": {"what may be there is not what is asked for now", func(t *testing.T) {
			a := newTale(t, anInstance)
			a.does(Make).crashes()
			a.now = a.now.Add(callTimeout)
			a.edit()
			a.does(Mitigate).answers(osb.Response{})
			a.now = a.now.Add(time.Minute)
			require.False(t, a.does(Make).decision.Again)
		}},
		"RefusedAfterCrash": {"what the first request may have made is remembered, and removed when the spec changes", func(t *testing.T) {
			a := newTale(t, anInstance)
			a.does(Make).crashes()
			a.now = a.now.Add(callTimeout)
			a.does(Make).fails(osb.Error{Kind: osb.Rejected, StatusCode: 400})
			a.does(Rest)
			require.True(t, a.thing.owes())
			a.edit()
			a.does(Mitigate)
		}},
		"RefusedAtOnce": {"a refusal leaves nothing to remove", func(t *testing.T) {
			a := newTale(t, anInstance)
			a.does(Make).fails(osb.Error{Kind: osb.Rejected, StatusCode: 400})
			require.False(t, a.thing.owes())
			a.does(Rest)
			a.thing.Deleting = true
			a.does(Release)
			require.Empty(t, a.decision.Warning)
		}},
		"NotFoundOfAnAddress": {"404 is no success where the broker's address may be wrong", func(t *testing.T) {
			a := ready(t, anInstance)
			a.thing.Deleting = true
			f := a.facts()
			f.BrokerReady = false
			a.doesWith(Remove, f).fails(osb.Error{Kind: osb.Gone, StatusCode: 404})
			require.False(t, a.outcome.Release)
			a.now = a.now.Add(time.Minute)
			a.does(Remove).fails(osb.Error{Kind: osb.Gone, StatusCode: 404})
			require.True(t, a.outcome.Release)
		}},
		"MaintenanceNotAskedFor": {"an update of parameters does not pretend to be an upgrade", func(t *testing.T) {
			a := ready(t, anInstance)
			a.edit()
			f := a.facts()
			f.Ask.MaintenanceVersion = "2.0.0"
			require.False(t, a.thing.Changes(f.Ask).Maintenance)
			a.doesWith(Change, f).answers(osb.Response{})
			require.Empty(t, a.thing.Record.Accepted.MaintenanceVersion)
			a.thing.Generation++
			f = a.facts()
			f.Ask.MaintenanceVersion, f.Ask.UpdateRequests = "2.0.0", 1
			a.doesWith(Change, f).answers(osb.Response{})
			require.Equal(t, "2.0.0", a.thing.Record.Accepted.MaintenanceVersion)
		}},
		"UpdateNotAllowed": {"a plan change that cannot be is terminal, until the plan is put back", func(t *testing.T) {
			a := ready(t, anInstance)
			a.thing.Generation++
			f := a.facts()
			f.Ask.PlanExternalID, f.Ask.PlanUpdatable = "other", false
			a.doesWith(Rest, f)
			require.True(t, a.thing.Record.failedForGood())
			a.thing.Generation++
			a.does(Rest)
			require.True(t, a.thing.Record.holds(v1beta1.ConditionReady))
		}},
		"UpdateOfUnknownOutcome": {"a change that is taken back is sent too, if the change may have arrived", func(t *testing.T) {
			a := ready(t, anInstance)
			a.edit()
			a.does(Change).fails(cut)
			a.edit()
			a.does(Change).fails(osb.Error{Kind: osb.Rejected, StatusCode: 400})
			a.does(Rest)
			require.True(t, a.thing.Record.failedForGood())
			a.thing.Generation++
			a.does(Change).answers(osb.Response{})
			a.does(Rest)
			require.Nil(t, a.thing.Record.InProgress)
		}},
		"UpdateTooLong": {"an update that does not end fails, and the next is sent", func(t *testing.T) {
			a := ready(t, anInstance)
			a.edit()
			a.does(Change).answers(osb.Response{Async: true})
			a.now = a.now.Add(maxPolling + time.Hour)
			a.does(Poll).polls(osb.LastOperation{State: osb.InProgress})
			require.True(t, a.thing.Record.failedForGood())
			a.edit()
			a.does(Change)
		}},
		"Unusable": {"what the broker says of use holds until it was updated", func(t *testing.T) {
			a := ready(t, anInstance)
			a.edit()
			a.does(Change).answers(osb.Response{Async: true})
			a.does(Poll).polls(osb.LastOperation{State: osb.Failed, Usable: new(false)})
			require.True(t, a.thing.Record.Unusable)
			a.edit()
			a.does(Change).answers(osb.Response{})
			require.False(t, a.thing.Record.Unusable)
		}},
		"PollClockBeginsAnew": {"the time for an operation begins when the broker takes it on", func(t *testing.T) {
			a := ready(t, anInstance)
			a.thing.Deleting = true
			a.does(Remove).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 500})
			a.now = a.now.Add(2 * maxPolling)
			a.does(Remove).answers(osb.Response{Async: true})
			a.does(Poll).polls(osb.LastOperation{State: osb.InProgress})
			require.True(t, a.thing.Record.Async)
		}},
		"RetryAfterOutlivesUs": {"a long wait is known to the next process too", func(t *testing.T) {
			a := newTale(t, anInstance)
			a.does(Make).answers(osb.Response{Async: true})
			a.does(Poll).polls(osb.LastOperation{State: osb.InProgress, RetryAfter: time.Hour})
			a.does(Rest)
			require.InDelta(t, time.Hour, a.decision.After, float64(time.Second))
			a.now = a.now.Add(2 * time.Hour)
			a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded})
			require.True(t, a.thing.Record.holds(v1beta1.ConditionReady))
		}},
		"MitigationIsPatient": {"503 with Retry-After is granted before what it left is removed", func(t *testing.T) {
			a := newTale(t, anInstance)
			a.does(Make).fails(osb.Error{Kind: osb.Unavailable, StatusCode: 503, RetryAfter: time.Hour})
			a.does(Rest)
			a.now = a.now.Add(time.Hour)
			a.does(Mitigate)
		}},
		"ClockAhead": {"what another clock wrote is not waited for longer than a call can take", func(t *testing.T) {
			a := newTale(t, anInstance)
			a.does(Make).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 400})
			a.thing.Record.Operation, a.thing.Record.Deadline = Making, a.now.Add(300*24*time.Hour)
			a.does(Rest)
			require.Equal(t, longestDeadline, a.decision.After)
			require.Equal(t, a.now.Add(longestDeadline), a.thing.Record.Deadline, "stored, so that the wait ends")
			a.now = a.now.Add(longestDeadline)
			a.does(Mitigate).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 500})
			a.thing.Record.NextRetry = a.now.Add(300 * 24 * time.Hour)
			a.does(Rest)
			require.Equal(t, osb.LongestWait, a.decision.After)
			a.now = a.now.Add(osb.LongestWait)
			a.does(Mitigate)
		}},
		"StartedByAnotherClock": {"an operation that began in the future ends no later than one that begins now", func(t *testing.T) {
			a := newTale(t, anInstance)
			a.does(Make).answers(osb.Response{Async: true})
			a.thing.Record.Started = a.now.Add(300 * 24 * time.Hour)
			a.does(Poll).polls(osb.LastOperation{State: osb.InProgress})
			require.False(t, a.thing.Record.Started.After(a.now), "stored, so that it ends")
			a.now = a.now.Add(maxPolling + time.Second)
			a.does(Poll).polls(osb.LastOperation{State: osb.InProgress})
			require.True(t, a.thing.Record.holds(v1beta1.ConditionFailed))
		}},
		"HeldMitigation": {"a failed thing that waits for its broker stays stalled", func(t *testing.T) {
			a := newTale(t, anInstance)
			a.does(Make).answers(osb.Response{Async: true})
			a.does(Poll).polls(osb.LastOperation{State: osb.Failed})
			f := a.facts()
			f.HeldBecause = "it does not answer"
			a.doesWith(Rest, f)
			require.True(t, a.thing.Record.holds(v1beta1.ConditionStalled))
		}},
		"HeldAndThenNothing": {"a wait that is not needed any more is forgotten", func(t *testing.T) {
			a := ready(t, aBinding)
			a.world.secret = false
			f := a.facts()
			f.HeldBecause = "it does not answer"
			a.doesWith(Rest, f)
			a.world.secret = true
			a.does(Rest)
			require.False(t, a.thing.Record.holds(v1beta1.ConditionReconciling))
			require.Zero(t, a.thing.Record.NextRetry)
		}},
		"BindingKeepsReady": {"a problem of its instance is none of a binding that is complete", func(t *testing.T) {
			a := ready(t, aBinding)
			f := a.facts()
			f.Ask, f.Problem = nil, &Problem{Reason: "InstanceNotReady", Message: "wait", Waits: true}
			a.doesWith(Rest, f)
			require.True(t, a.thing.Record.holds(v1beta1.ConditionReady))
			f.SecretLost = true
			a.doesWith(Rest, f)
			require.False(t, a.thing.Record.holds(v1beta1.ConditionReady))
		}},
		"SecretLostFetched": {"lost credentials are fetched where they can be", func(t *testing.T) {
			a := ready(t, fetchable)
			a.world.secret = false
			a.does(Fetch).replies(Reply{Credentials: NotStored, StoreProblem: "no"})
			a.now = a.now.Add(time.Minute)
			a.does(Fetch).replies(Reply{Credentials: Stored})
			require.True(t, a.thing.Record.holds(v1beta1.ConditionReady))
		}},
		"SecretLostAndConflict": {"where they cannot be fetched nor asked for again, they are made anew", func(t *testing.T) {
			a := ready(t, aBinding)
			a.world.secret = false
			a.does(Make).fails(osb.Error{Kind: osb.Conflict, StatusCode: 409})
			a.does(Mitigate).answers(osb.Response{})
			require.NotEqual(t, specID, a.thing.Record.ID)
		}},
		"AsyncNotFetchable": {"a bind that was asynchronous, of an offering that cannot be read, is asked for again", func(t *testing.T) {
			a := newTale(t, aBinding)
			a.does(Make).answers(osb.Response{Async: true})
			a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded})
			require.True(t, a.does(Make).decision.Again)
			for !a.thing.Record.Mitigating {
				a.answers(osb.Response{Async: true})
				a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded})
				a.now = a.now.Add(time.Hour)
				a.decided = a.facts()
				a.decision = Next(a.thing, a.decided)
			}
			require.EqualValues(t, triesForCredentials+1, a.thing.Record.Retries)
		}},
		"AsyncNotFetchableAfterManyFailures": {"whatever failed before, the credentials of a new binding are asked for", func(t *testing.T) {
			a := newTale(t, aBinding)
			for range 2 * triesForCredentials {
				a.does(Make).fails(osb.Error{Kind: osb.Unavailable, StatusCode: 429})
				a.now = a.now.Add(time.Hour)
			}
			a.does(Make).answers(osb.Response{Async: true})
			a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded})
			require.True(t, a.does(Make).decision.Again)
			a.replies(Reply{Response: &osb.Response{}, Credentials: Stored})
			require.True(t, a.thing.Record.holds(v1beta1.ConditionReady))
		}},
		"AsyncNotFetchableRefused": {"a binding that was made, and whose credentials are refused, is removed", func(t *testing.T) {
			a := newTale(t, aBinding)
			a.does(Make).answers(osb.Response{Async: true})
			a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded})
			a.does(Make).fails(osb.Error{Kind: osb.Rejected, StatusCode: 400})
			require.True(t, a.thing.Record.failedForGood())
			a.does(Mitigate).answers(osb.Response{})
			a.does(Rest)
		}},
		"NoCredentialsAtAll": {"a broker that makes bindings without credentials is not asked again and again", func(t *testing.T) {
			a := newTale(t, aBinding)
			a.does(Make).replies(Reply{Response: &osb.Response{Created: true}})
			require.True(t, a.thing.Record.failedForGood())
			a.does(Mitigate).answers(osb.Response{})
			a.does(Rest)
		}},
		"BrokerDownWhileFetching": {"a new binding is not undone because its broker is away", func(t *testing.T) {
			a := newTale(t, fetchable)
			a.does(Make).answers(osb.Response{Async: true})
			a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded})
			for range 3 * triesForCredentials {
				a.does(Fetch).fails(osb.Error{Kind: osb.NeverSent})
				a.now = a.now.Add(time.Hour)
			}
			require.False(t, a.thing.Record.Mitigating)
		}},
		"AdoptedTriesOn": {"an ID that is not ours is asked for again after a timeout, and never mitigated", func(t *testing.T) {
			a := newTale(t, scene{kind: Instance})
			a.does(Make).fails(osb.Error{Kind: osb.MaybeReceived})
			require.False(t, a.thing.Record.failedForGood())
			a.now = a.now.Add(time.Hour)
			a.does(Make).answers(osb.Response{})
			require.Equal(t, ReasonAdopted, a.outcome.Event.Reason)
			a.thing.Deleting = true
			a.does(Release)
			require.NotEmpty(t, a.decision.Warning)
			a.thing.RemoveAdopted = true
			a.does(Remove)
		}},
		"AdoptedNotStored": {"credentials of an ID that is not ours are asked for again", func(t *testing.T) {
			a := newTale(t, scene{kind: Binding})
			a.does(Make).replies(Reply{Response: &osb.Response{}, Credentials: NotStored})
			a.now = a.now.Add(time.Hour)
			a.does(Make).replies(Reply{Response: &osb.Response{}})
			require.True(t, a.thing.Record.failedForGood())
		}},
		"ConflictOfNothing": {"what is said to be there, and is never found, is made", func(t *testing.T) {
			a := newTale(t, scene{kind: Instance, minted: true, fetchable: true})
			a.does(Make).fails(osb.Error{Kind: osb.Conflict, StatusCode: 409})
			for range triesForConflict + 1 {
				a.does(Fetch).fails(osb.Error{Kind: osb.Gone, StatusCode: 404})
				a.now = a.now.Add(time.Hour)
			}
			a.does(Make)
		}},
		"FetchedInVain": {"a new binding whose credentials the broker cannot give is undone", func(t *testing.T) {
			for _, e := range []osb.Error{{Kind: osb.Rejected, StatusCode: 400}, {Kind: osb.Gone, StatusCode: 404}} {
				a := newTale(t, fetchable)
				a.does(Make).answers(osb.Response{Async: true})
				a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded})
				for range triesForCredentials + 1 {
					a.does(Fetch).fails(e)
					a.now = a.now.Add(time.Hour)
				}
				a.does(Mitigate)
			}
		}},
		"CredentialsGone": {"a binding that its broker forgot is made anew", func(t *testing.T) {
			a := ready(t, fetchable)
			a.world.secret = false
			a.does(Fetch).fails(osb.Error{Kind: osb.Gone, StatusCode: 404})
			a.does(Mitigate)
		}},
		"FetchRepeated": {"credentials come in the answer to a repeated bind, or are fetched", func(t *testing.T) {
			a := newTale(t, fetchable)
			a.does(Make).replies(Reply{Response: &osb.Response{}})
			a.does(Fetch).replies(Reply{Credentials: Stored})
			require.True(t, a.thing.Record.holds(v1beta1.ConditionReady))
		}},
		"AskedForNothingNew": {"a request to update that changes nothing is served", func(t *testing.T) {
			a := ready(t, anInstance)
			a.thing.Generation++
			f := a.facts()
			f.Ask.UpdateRequests = 7
			a.doesWith(Rest, f)
			require.EqualValues(t, 7, a.thing.Record.Accepted.UpdateRequests)
		}},
		"RemovalOfNobody": {"a removal that was recorded, of what is not deleted: it is made", func(t *testing.T) {
			a := newTale(t, anInstance)
			a.thing.Record.Operation = Removing
			a.does(Make)
		}},
		"FetchableNoMore": {"what was to be fetched is asked for again where it cannot be fetched any more", func(t *testing.T) {
			a := newTale(t, fetchable)
			a.does(Make).answers(osb.Response{Async: true})
			a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded})
			a.scene.fetchable = false
			require.True(t, a.does(Make).decision.Again)
		}},
		"RemovalForgotten": {"a removal that no poll knows is asked for again, and not at once every time", func(t *testing.T) {
			a := ready(t, anInstance)
			a.thing.Deleting = true
			a.does(Remove).answers(osb.Response{Async: true})
			for range pollsBeforeAsking {
				a.does(Poll).fails(osb.Error{Kind: osb.NotFound, StatusCode: 404})
			}
			a.does(Rest)
			a.now = a.now.Add(time.Minute)
			a.does(Remove).fails(gone)
			require.True(t, a.outcome.Release)
		}},
		"BrokerGone": {"a deletion ends without its broker, and says so; a mitigation waits for it", func(t *testing.T) {
			a := newTale(t, anInstance)
			a.does(Make).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 500})
			f := a.facts()
			f.BrokerGone = true
			a.doesWith(Rest, f)
			a.thing.Deleting = true
			f = a.facts()
			f.BrokerGone = true
			a.doesWith(Release, f)
			require.NotEmpty(t, a.decision.Warning)
		}},
		"Abandoned": {"a person may let it go", func(t *testing.T) {
			a := ready(t, anInstance)
			a.thing.Deleting, a.thing.Abandoned = true, true
			a.does(Release)
			require.NotEmpty(t, a.decision.Warning)
		}},
		"NoID": {"what admission gave no ID gets one, and it is its own", func(t *testing.T) {
			a := newTale(t, anInstance)
			a.thing.SpecID, a.thing.Minted = "", false
			a.does(Make).answers(osb.Response{Created: true})
			require.NotEmpty(t, a.thing.Record.ID)
			require.True(t, a.thing.owes())
		}},
		"NotOurError": {"what kept a call from being made was never sent", func(t *testing.T) {
			a := newTale(t, anInstance)
			a.does(Make).replies(Reply{Err: errors.New("no Secret")})
			require.False(t, a.thing.owes())
			require.False(t, a.thing.Record.Mitigating)
		}},
		"Relist": {"a maintenance conflict says that the catalog is old", func(t *testing.T) {
			a := newTale(t, anInstance)
			a.does(Make).fails(osb.Error{Kind: osb.MaintenanceConflict, StatusCode: 422})
			require.True(t, a.outcome.Relist)
		}},
		"RestHasNoReply": {"a rest changes nothing", func(t *testing.T) {
			a := ready(t, anInstance)
			a.does(Rest)
			require.Equal(t, a.decision.Record, a.thing.Replied(a.decision, Reply{}, a.facts()).Record)
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(tc.reason)
			tc.tell(t)
		})
	}
}
