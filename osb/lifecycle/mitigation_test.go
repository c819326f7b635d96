package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

// The table "Orphan Mitigation" of the specification, row by row: what it says of an
// answer, and what a thing does that gets it.
func TestOrphans(t *testing.T) {
	t.Parallel()
	const yes, no = true, false
	cases := map[string]struct {
		reason                 string
		err                    osb.Error
		making, changing, gone bool
	}{
		"Malformed200":  {"what is there is identical", osb.Error{Kind: osb.BrokerFault, StatusCode: 200, Malformed: true}, no, no, no},
		"Malformed201":  {"it was made, and nobody can say what", osb.Error{Kind: osb.BrokerFault, StatusCode: 201, Malformed: true}, yes, no, no},
		"Malformed202":  {"it is being made", osb.Error{Kind: osb.BrokerFault, StatusCode: 202, Malformed: true}, yes, no, no},
		"Other2xx":      {"no answer of the specification", osb.Error{Kind: osb.BrokerFault, StatusCode: 204}, yes, no, yes},
		"Redirect":      {"not in the table: nobody knows who acted", osb.Error{Kind: osb.BrokerFault, StatusCode: 302}, yes, no, no},
		"BadRequest":    {"rejected", osb.Error{Kind: osb.Rejected, StatusCode: 400}, no, no, no},
		"Auth":          {"rejected", osb.Error{Kind: osb.Auth, StatusCode: 401}, no, no, no},
		"NotFound":      {"rejected", osb.Error{Kind: osb.NotFound, StatusCode: 404}, no, no, no},
		"Timeout408":    {"rejected, since 2.14", osb.Error{Kind: osb.Rejected, StatusCode: 408}, no, no, no},
		"Conflict":      {"rejected", osb.Error{Kind: osb.Conflict, StatusCode: 409}, no, no, no},
		"Gone":          {"rejected", osb.Error{Kind: osb.Gone, StatusCode: 410}, no, no, no},
		"Unprocessable": {"rejected", osb.Error{Kind: osb.Concurrency, StatusCode: 422}, no, no, no},
		"TooMany":       {"rejected", osb.Error{Kind: osb.Unavailable, StatusCode: 429}, no, no, no},
		"Fault":         {"an update that fails so did nothing", osb.Error{Kind: osb.BrokerFault, StatusCode: 500}, yes, no, yes},
		"Unavailable":   {"503 is a 5xx", osb.Error{Kind: osb.Unavailable, StatusCode: 503}, yes, no, yes},
		"NoAnswer":      {"only what is made can be orphaned", osb.Error{Kind: osb.MaybeReceived}, yes, no, no},
		"NeverSent":     {"nothing can have happened", osb.Error{Kind: osb.NeverSent}, no, no, no},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.making, Orphans(Make, &tc.err), tc.reason)
			assert.Equal(t, tc.changing, Orphans(Change, &tc.err), tc.reason)
			assert.Equal(t, tc.gone, Orphans(Remove, &tc.err), tc.reason)
			assert.Equal(t, tc.gone, Orphans(Mitigate, &tc.err), tc.reason)
			for _, kind := range []Kind{Instance, Binding} {
				for _, minted := range []bool{true, false} {
					tale := newTale(t, scene{kind: kind, minted: minted})
					tale.does(Make).fails(tc.err)
					next := Next(tale.thing, tale.later())
					assert.Equal(t, tc.making && minted, tale.thing.Record.Mitigating, tc.reason)
					assert.Equal(t, tc.making && minted, next.Step == Mitigate, tc.reason)
				}
			}
			tale := newTale(t, scene{kind: Instance, minted: true})
			tale.does(Make).answers(osb.Response{Created: true})
			tale.edit()
			tale.does(Change).fails(tc.err)
			assert.False(t, tale.thing.Record.Mitigating, "an update is never undone")
			assert.True(t, tale.thing.owes(), tc.reason)
			tale.thing.Deleting = true
			tale.now = tale.now.Add(time.Hour)
			tale.does(Remove)
			if tc.err.Kind != osb.Gone {
				tale.fails(tc.err)
				assert.Equal(t, Remove, Next(tale.thing, tale.later()).Step, "a removal is tried until it is done")
			}
		})
	}
}

// The rows about last_operation.
func TestOrphansOfPolls(t *testing.T) {
	t.Parallel()
	for _, kind := range []Kind{Instance, Binding} {
		tale := newTale(t, scene{kind: kind, minted: true, fetchable: true})
		tale.does(Make).answers(osb.Response{Async: true})
		tale.does(Poll).polls(osb.LastOperation{State: osb.Failed, Description: "no"})
		require.True(t, tale.thing.Record.Mitigating, "200 failed of a provision or bind")
		require.True(t, tale.thing.Record.failedForGood(), "it is not tried again")
		tale.does(Mitigate).answers(osb.Response{Async: true})
		tale.does(Poll).polls(osb.LastOperation{State: osb.Failed})
		require.True(t, tale.thing.Record.Mitigating, "200 failed of a deprovision or unbind")
		tale.now = tale.now.Add(time.Hour)
		tale.does(Mitigate).answers(osb.Response{})
		require.False(t, tale.thing.Record.Mitigating)
		require.True(t, tale.thing.Record.failedForGood())
		ready, _ := v1beta1.FindCondition(tale.thing.Record.Conditions, v1beta1.ConditionReady)
		failed, _ := v1beta1.FindCondition(tale.thing.Record.Conditions, v1beta1.ConditionFailed)
		require.Equal(t, failed.Reason, ready.Reason, "the clean-up is over")
		require.Equal(t, Rest, Next(tale.thing, tale.later()).Step)
	}
}
