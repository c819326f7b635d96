package lifecycle

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

// What comes late, and what is mended elsewhere.
func TestLateSequences(t *testing.T) {
	t.Parallel()
	gone := osb.Error{Kind: osb.Gone, StatusCode: 410}
	cases := map[string]struct {
		reason string
		run    func(t *testing.T)
	}{
		"GatewayTimeout": {"a gateway that gave up says nothing of the broker behind it", func(t *testing.T) {
			for _, status := range []int{502, 504} {
				a := newSequence(t, anInstance)
				a.does(Provision).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: status})
				a.does(MitigateOrphan).fails(gone)
				require.Equal(t, specID, a.resource.Record.ID, status)
				a.now = a.resource.Record.NextRetry
				a.does(MitigateOrphan).fails(gone)
				require.NotEqual(t, specID, a.resource.Record.ID, status)
			}
		}},
		"OwnFault": {"a broker that says 500 has ended", func(t *testing.T) {
			a := newSequence(t, anInstance)
			a.does(Provision).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 500})
			a.does(MitigateOrphan).fails(gone)
			require.NotEqual(t, specID, a.resource.Record.ID)
		}},
		"DeletedWhileMitigationBacksOff": {"a user's deletion does not wait for what a mitigation waits for", func(t *testing.T) {
			for name, failure := range map[string]func(*sequence){
				"BeforeTheFirstTry": func(a *sequence) { require.NotZero(t, a.resource.Record.NextRetry) },
				"AfterTries": func(a *sequence) {
					for range 8 {
						a.now = a.resource.Record.NextRetry
						a.does(MitigateOrphan).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 500})
					}
				},
				"AfterAnAsyncTry": func(a *sequence) {
					a.now = a.resource.Record.NextRetry
					a.does(MitigateOrphan).answers(osb.Response{Async: true})
					a.does(Poll).polls(osb.LastOperation{State: osb.Failed})
				},
			} {
				a := newSequence(t, anInstance)
				a.does(Provision).fails(osb.Error{Kind: osb.Unavailable, StatusCode: 503, RetryAfter: time.Hour})
				failure(a)
				a.does(Rest)
				a.resource.Generation++
				a.resource.Deleting = true
				a.does(Deprovision)
				require.Zero(t, a.decision.Record.Retries, name)
				ready, _ := v1beta1.FindCondition(a.decision.Record.Conditions, v1beta1.ConditionReady)
				require.Equal(t, "DeprovisionRequestInFlight", ready.Reason, name)
				a.fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 500})
				require.True(t, a.resource.mustDeprovision(), name)
				a.does(Rest)
				a.now = a.resource.Record.NextRetry
				a.does(Deprovision).answers(osb.Response{})
				require.True(t, a.outcome.Release, name)
			}
		}},
		"DeletedBeforeALateRequestEnds": {"what a deletion removes at once is removed once more when nothing can come any more", func(t *testing.T) {
			a := newSequence(t, anInstance)
			a.does(Provision).fails(osb.Error{Kind: osb.MaybeReceived})
			a.resource.Generation++
			a.resource.Deleting = true
			a.does(Deprovision).fails(gone)
			require.False(t, a.outcome.Release)
			a.does(Rest)
			a.now = a.resource.Record.NextRetry
			a.does(Deprovision).fails(gone)
			require.True(t, a.outcome.Release)
		}},
		"RemovedTooEarly": {"some brokers answer 200 to the removal of nothing", func(t *testing.T) {
			a := newSequence(t, anInstance)
			a.does(Provision).fails(osb.Error{Kind: osb.MaybeReceived})
			a.does(MitigateOrphan).answers(osb.Response{})
			require.Equal(t, specID, a.resource.Record.ID)
			a.now = a.resource.Record.NextRetry
			a.does(MitigateOrphan).answers(osb.Response{})
			require.NotEqual(t, specID, a.resource.Record.ID)
		}},
		"SecretMended": {"what was refused for good is tried again when what is sent is another", func(t *testing.T) {
			a := newSequence(t, anInstance)
			a.does(Provision).fails(osb.Error{Kind: osb.Rejected, StatusCode: 400})
			a.does(Rest)
			f := a.facts()
			f.Desired.ParameterChecksum = "mended"
			a.doesWith(Provision, f)
		}},
		"CatalogMended": {"the catalog allows the plan change now", func(t *testing.T) {
			a := ready(t, anInstance)
			a.edit()
			f := a.facts()
			f.Desired.PlanExternalID, f.Desired.PlanUpdatable = "other", false
			a.doesWith(Rest, f)
			require.True(t, a.decision.Record.failedForGood())
			a.resource.Record = a.decision.Record
			a.doesWith(Rest, f)
			f.Desired.PlanUpdatable = true
			a.doesWith(Update, f)
		}},
		"Unstorable": {"credentials that no Secret can hold are not made again and again", func(t *testing.T) {
			a := newSequence(t, aBinding)
			a.does(Provision).responds(CallResult{Response: &osb.Response{Created: true}, Credentials: Unstorable, StoreProblem: "two keys are one"})
			require.True(t, a.resource.Record.failedForGood())
			a.does(MitigateOrphan).answers(osb.Response{})
			a.does(Rest)
		}},
		"FetchedAfterManyFailures": {"a new binding is not undone for what failed before it was made, or with those before it", toldOfManyFailures},
		"LongURL": {"an address that status cannot hold is not worth losing the instance for", func(t *testing.T) {
			a := newSequence(t, anInstance)
			a.does(Provision).answers(osb.Response{Created: true, DashboardURL: "https://" + strings.Repeat("a", longestURL)})
			require.Nil(t, a.resource.Record.DashboardURL)
			require.True(t, a.resource.Record.Exists)
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

// toldOfManyFailures is what a broker did that fails at random: a redirection was the
// first answer to the first fetch of a binding, and it was unbound at once, because so
// much had failed by then.
func toldOfManyFailures(t *testing.T) {
	a := newSequence(t, fetchable)
	gone := osb.Error{Kind: osb.Gone, StatusCode: 410}
	unreadable := osb.Error{Kind: osb.BrokerFault, StatusCode: 200, Malformed: true}
	fails := func(step Step, e osb.Error) {
		t.Helper()
		a.does(step).fails(e)
		if a.now = a.now.Add(time.Hour); step == Fetch {
			a.now = later(a.now.Add(-time.Hour), a.resource.Record.NextRetry)
		}
	}
	isMade := func(failedPolls int) {
		t.Helper()
		a.does(Provision).answers(osb.Response{Async: true, Operation: new("op")})
		for range failedPolls {
			fails(Poll, osb.Error{Kind: osb.BrokerFault, StatusCode: 500})
		}
		a.does(Poll).polls(osb.LastOperation{State: osb.InProgress})
		a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded})
	}
	fails(Provision, osb.Error{Kind: osb.BrokerFault, StatusCode: 502})
	fails(MitigateOrphan, osb.Error{Kind: osb.BrokerFault, StatusCode: 500})
	fails(MitigateOrphan, gone)

	isMade(0)
	fails(Fetch, unreadable)
	fails(Fetch, osb.Error{Kind: osb.Unavailable, StatusCode: 503})
	fails(Fetch, osb.Error{Kind: osb.Unavailable, StatusCode: 429})
	fails(Fetch, unreadable)
	require.False(t, a.resource.Record.Mitigating, "it was asked for four times")
	for !a.resource.Record.Mitigating {
		fails(Fetch, unreadable)
	}
	a.does(MitigateOrphan).answers(osb.Response{Async: true})
	a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded})
	a.now = a.now.Add(time.Hour)

	fails(Provision, osb.Error{Kind: osb.MaybeReceived})
	fails(MitigateOrphan, gone)
	require.Greater(t, a.resource.Record.Retries, int32(triesForCredentials))

	isMade(2)
	fails(Fetch, osb.Error{Kind: osb.BrokerFault, StatusCode: 302})
	require.False(t, a.resource.Record.Mitigating, "a single answer says little")
	a.does(Fetch).responds(CallResult{Credentials: Stored})
	require.True(t, a.resource.Record.holds(v1beta1.ConditionReady))
}
