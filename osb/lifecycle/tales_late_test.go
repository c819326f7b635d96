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
func TestLateTales(t *testing.T) {
	t.Parallel()
	gone := osb.Error{Kind: osb.Gone, StatusCode: 410}
	cases := map[string]struct {
		reason string
		tell   func(t *testing.T)
	}{
		"GatewayTimeout": {"a gateway that gave up says nothing of the broker behind it", func(t *testing.T) {
			for _, status := range []int{502, 504} {
				a := newTale(t, anInstance)
				a.does(Make).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: status})
				a.does(Mitigate).fails(gone)
				require.Equal(t, specID, a.thing.Record.ID, status)
				a.now = a.thing.Record.NextRetry
				a.does(Mitigate).fails(gone)
				require.NotEqual(t, specID, a.thing.Record.ID, status)
			}
		}},
		"OwnFault": {"a broker that says 500 has ended", func(t *testing.T) {
			a := newTale(t, anInstance)
			a.does(Make).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 500})
			a.does(Mitigate).fails(gone)
			require.NotEqual(t, specID, a.thing.Record.ID)
		}},
		"RemovedTooEarly": {"some brokers answer 200 to the removal of nothing", func(t *testing.T) {
			a := newTale(t, anInstance)
			a.does(Make).fails(osb.Error{Kind: osb.MaybeReceived})
			a.does(Mitigate).answers(osb.Response{})
			require.Equal(t, specID, a.thing.Record.ID)
			a.now = a.thing.Record.NextRetry
			a.does(Mitigate).answers(osb.Response{})
			require.NotEqual(t, specID, a.thing.Record.ID)
		}},
		"SecretMended": {"what was refused for good is tried again when what is sent is another", func(t *testing.T) {
			a := newTale(t, anInstance)
			a.does(Make).fails(osb.Error{Kind: osb.Rejected, StatusCode: 400})
			a.does(Rest)
			f := a.facts()
			f.Ask.ParameterChecksum = "mended"
			a.doesWith(Make, f)
		}},
		"CatalogMended": {"the catalog allows the plan change now", func(t *testing.T) {
			a := ready(t, anInstance)
			a.edit()
			f := a.facts()
			f.Ask.PlanExternalID, f.Ask.PlanUpdatable = "other", false
			a.doesWith(Rest, f)
			require.True(t, a.decision.Record.failedForGood())
			a.thing.Record = a.decision.Record
			a.doesWith(Rest, f)
			f.Ask.PlanUpdatable = true
			a.doesWith(Change, f)
		}},
		"Unstorable": {"credentials that no Secret can hold are not made again and again", func(t *testing.T) {
			a := newTale(t, aBinding)
			a.does(Make).replies(Reply{Response: &osb.Response{Created: true}, Credentials: Unstorable, StoreProblem: "two keys are one"})
			require.True(t, a.thing.Record.failedForGood())
			a.does(Mitigate).answers(osb.Response{})
			a.does(Rest)
		}},
		"FetchedAfterManyFailures": {"a new binding is not undone for what failed before it was made, or with those before it", toldOfManyFailures},
		"LongURL": {"an address that status cannot hold is not worth losing the instance for", func(t *testing.T) {
			a := newTale(t, anInstance)
			a.does(Make).answers(osb.Response{Created: true, DashboardURL: "https://" + strings.Repeat("a", longestURL)})
			require.Nil(t, a.thing.Record.DashboardURL)
			require.True(t, a.thing.Record.Exists)
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

// toldOfManyFailures is what a broker did that fails at random: a redirection was the
// first answer to the first fetch of a binding, and it was unbound at once, because so
// much had failed by then.
func toldOfManyFailures(t *testing.T) {
	a := newTale(t, fetchable)
	gone := osb.Error{Kind: osb.Gone, StatusCode: 410}
	unreadable := osb.Error{Kind: osb.BrokerFault, StatusCode: 200, Malformed: true}
	fails := func(step Step, e osb.Error) {
		t.Helper()
		a.does(step).fails(e)
		a.now = a.now.Add(time.Hour)
	}
	isMade := func(failedPolls int) {
		t.Helper()
		a.does(Make).answers(osb.Response{Async: true, Operation: new("op")})
		for range failedPolls {
			fails(Poll, osb.Error{Kind: osb.BrokerFault, StatusCode: 500})
		}
		a.does(Poll).polls(osb.LastOperation{State: osb.InProgress})
		a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded})
	}
	fails(Make, osb.Error{Kind: osb.BrokerFault, StatusCode: 502})
	fails(Mitigate, osb.Error{Kind: osb.BrokerFault, StatusCode: 500})
	fails(Mitigate, gone)

	isMade(0)
	fails(Fetch, unreadable)
	fails(Fetch, osb.Error{Kind: osb.Unavailable, StatusCode: 503})
	fails(Fetch, osb.Error{Kind: osb.Unavailable, StatusCode: 429})
	fails(Fetch, unreadable)
	require.False(t, a.thing.Record.Mitigating, "it was asked for four times")
	fails(Fetch, unreadable)
	fails(Fetch, unreadable)
	a.does(Mitigate).answers(osb.Response{Async: true})
	a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded})
	a.now = a.now.Add(time.Hour)

	fails(Make, osb.Error{Kind: osb.MaybeReceived})
	fails(Mitigate, gone)
	require.Greater(t, a.thing.Record.Retries, int32(triesForCredentials))

	isMade(2)
	fails(Fetch, osb.Error{Kind: osb.BrokerFault, StatusCode: 302})
	require.False(t, a.thing.Record.Mitigating, "a single answer says little")
	a.does(Fetch).replies(Reply{Credentials: Stored})
	require.True(t, a.thing.Record.holds(v1beta1.ConditionReady))
}
