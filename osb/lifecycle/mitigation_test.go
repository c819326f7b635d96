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
// answer, and what a resource does that gets it.
func TestOrphans(t *testing.T) {
	t.Parallel()
	const yes, no = true, false
	cases := map[string]struct {
		reason                 string
		err                    osb.Error
		making, changing, gone bool
	}{
		"Malformed200":  {"what is there is identical", osb.Error{Kind: osb.BrokerFault, StatusCode: 200, Malformed: true}, no, no, no},
		"Malformed201":  {"it was made, and cannot be read", osb.Error{Kind: osb.BrokerFault, StatusCode: 201, Malformed: true}, yes, no, no},
		"Malformed202":  {"it is being made", osb.Error{Kind: osb.BrokerFault, StatusCode: 202, Malformed: true}, yes, no, no},
		"Other2xx":      {"no answer of the specification", osb.Error{Kind: osb.BrokerFault, StatusCode: 204}, yes, no, yes},
		"Redirect":      {"not in the table: it is unknown who acted", osb.Error{Kind: osb.BrokerFault, StatusCode: 302}, yes, no, no},
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
			assert.Equal(t, tc.making, Orphans(Provision, &tc.err), tc.reason)
			assert.Equal(t, tc.changing, Orphans(Update, &tc.err), tc.reason)
			assert.Equal(t, tc.gone, Orphans(Deprovision, &tc.err), tc.reason)
			assert.Equal(t, tc.gone, Orphans(MitigateOrphan, &tc.err), tc.reason)
			for _, kind := range []Kind{Instance, Binding} {
				for _, minted := range []bool{true, false} {
					steps := newSequence(t, scenario{kind: kind, minted: minted})
					steps.does(Provision).fails(tc.err)
					next := Next(steps.resource, steps.later())
					assert.Equal(t, tc.making && minted, steps.resource.Record.Mitigating, tc.reason)
					assert.Equal(t, tc.making && minted, next.Step == MitigateOrphan, tc.reason)
				}
			}
			steps := newSequence(t, scenario{kind: Instance, minted: true})
			steps.does(Provision).answers(osb.Response{Created: true})
			steps.edit()
			steps.does(Update).fails(tc.err)
			assert.False(t, steps.resource.Record.Mitigating, "an update is never undone")
			assert.True(t, steps.resource.mustDeprovision(), tc.reason)
			steps.resource.Deleting = true
			steps.now = steps.now.Add(time.Hour)
			steps.does(Deprovision)
			if tc.err.Kind != osb.Gone {
				steps.fails(tc.err)
				assert.Equal(t, Deprovision, Next(steps.resource, steps.later()).Step, "a removal is tried until it is done")
			}
		})
	}
}

// The rows about last_operation.
func TestOrphansOfPolls(t *testing.T) {
	t.Parallel()
	for _, kind := range []Kind{Instance, Binding} {
		steps := newSequence(t, scenario{kind: kind, minted: true, fetchable: true})
		steps.does(Provision).answers(osb.Response{Async: true})
		steps.does(Poll).polls(osb.LastOperation{State: osb.Failed, Description: "no"})
		require.True(t, steps.resource.Record.Mitigating, "200 failed of a provision or bind")
		require.True(t, steps.resource.Record.failedForGood(), "it is not tried again")
		steps.does(MitigateOrphan).answers(osb.Response{Async: true})
		steps.does(Poll).polls(osb.LastOperation{State: osb.Failed})
		require.True(t, steps.resource.Record.Mitigating, "200 failed of a deprovision or unbind")
		steps.now = steps.now.Add(time.Hour)
		steps.does(MitigateOrphan).answers(osb.Response{})
		require.False(t, steps.resource.Record.Mitigating)
		require.True(t, steps.resource.Record.failedForGood())
		ready, _ := v1beta1.FindCondition(steps.resource.Record.Conditions, v1beta1.ConditionReady)
		failed, _ := v1beta1.FindCondition(steps.resource.Record.Conditions, v1beta1.ConditionFailed)
		require.Equal(t, failed.Reason, ready.Reason, "the clean-up is over")
		require.Equal(t, Rest, Next(steps.resource, steps.later()).Step)
	}
}

// An ID is used again only where its broker answered all that was sent under it, and the first
// removal well and at once: then nothing is on its way that could meet what is made next.
func TestIDAfterMitigation(t *testing.T) {
	t.Parallel()
	fault := func(status int) osb.Error { return osb.Error{Kind: osb.BrokerFault, StatusCode: status} }
	fails := func(status int) func(*sequence) { return func(a *sequence) { a.does(Provision).fails(fault(status)) } }
	crashes := func(a *sequence) {
		a.does(Provision).crashes()
		a.now = a.now.Add(time.Hour)
	}
	removes := func(a *sequence) { a.does(MitigateOrphan).answers(osb.Response{}) }
	begins := func(a *sequence) { a.does(MitigateOrphan).answers(osb.Response{Async: true}) }
	gone := func(a *sequence) { a.does(MitigateOrphan).fails(osb.Error{Kind: osb.Gone, StatusCode: 410}) }
	unbegun := func(a *sequence) { a.does(MitigateOrphan).fails(osb.Error{Kind: osb.NeverSent}) }
	cut := func(a *sequence) { a.does(Provision).fails(osb.Error{Kind: osb.MaybeReceived}) }
	waits := func(a *sequence) { a.now = a.now.Add(time.Hour) }
	const kept, fresh = true, false
	cases := map[string]struct {
		reason string
		tell   []func(*sequence)
		want   bool
	}{
		"Fault":       {"a broker that gets something ready at its first request", []func(*sequence){fails(500), removes}, kept},
		"Unavailable": {"503 is the broker's word", []func(*sequence){fails(503), removes}, kept},
		"Malformed": {"it was made, and is gone", []func(*sequence){func(a *sequence) {
			a.does(Provision).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 201, Malformed: true})
		}, removes}, kept},
		"Nothing":         {"a broker may know an ID of which it has nothing any more", []func(*sequence){fails(500), gone}, fresh},
		"BadGateway":      {"a gateway is not the broker", []func(*sequence){fails(502), waits, removes}, fresh},
		"GatewayTimeout":  {"neither is this one", []func(*sequence){fails(504), waits, removes}, fresh},
		"CutMiddle":       {"half an answer is none", []func(*sequence){func(a *sequence) { a.does(Provision).fails(osb.Error{Kind: osb.MaybeReceived, StatusCode: 201}) }, removes}, fresh},
		"Late":            {"the request may arrive late", []func(*sequence){cut, waits, removes}, fresh},
		"LateAndFound":    {"also once a removal found something", []func(*sequence){cut, removes, waits, removes}, fresh},
		"LateAndFailed":   {"also after its time", []func(*sequence){cut, waits, func(a *sequence) { a.does(MitigateOrphan).fails(fault(500)) }, waits, removes}, fresh},
		"Crash":           {"the first of two requests was not answered", []func(*sequence){crashes, fails(500), removes}, fresh},
		"Async":           {"a removal that took its time", []func(*sequence){fails(500), begins, func(a *sequence) { a.does(Poll).polls(osb.LastOperation{State: osb.Succeeded}) }}, fresh},
		"AsyncFailed":     {"also where it is asked for again", []func(*sequence){fails(500), begins, func(a *sequence) { a.does(Poll).polls(osb.LastOperation{State: osb.Failed}) }, waits, removes}, fresh},
		"RemovalCut":      {"the first removal may arrive late", []func(*sequence){fails(500), func(a *sequence) { a.does(MitigateOrphan).fails(osb.Error{Kind: osb.MaybeReceived}) }, waits, removes}, fresh},
		"RemovalCrashed":  {"so may this one", []func(*sequence){fails(500), func(a *sequence) { a.does(MitigateOrphan).crashes() }, waits, removes}, fresh},
		"RemovalNotSent":  {"it cannot be told from one that was sent", []func(*sequence){fails(500), unbegun, waits, removes}, fresh},
		"OperationFailed": {"what failed for good is another try once the spec changes", []func(*sequence){func(a *sequence) { a.does(Provision).answers(osb.Response{Async: true}) }, func(a *sequence) { a.does(Poll).polls(osb.LastOperation{State: osb.Failed}) }, removes}, fresh},
		"SecondTime":      {"each try is judged by itself", []func(*sequence){fails(500), removes, waits, cut, waits, removes}, fresh},
	}
	for name, tc := range cases {
		for _, s := range []scenario{anInstance, aBinding} {
			t.Run(name+s.name(), func(t *testing.T) {
				t.Parallel()
				a := newSequence(t, s)
				for _, tell := range tc.tell {
					tell(a)
				}
				r := &a.resource.Record
				require.False(t, r.Mitigating)
				assert.Equal(t, tc.want, r.ID == specID, tc.reason)
				assert.False(t, r.KeepsID, "the next try is judged by itself")
			})
		}
	}
}
