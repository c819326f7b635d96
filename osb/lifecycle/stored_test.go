package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb"
)

// What becomes of a bind after a crash behind its Secret.
func TestBelievedSecret(t *testing.T) {
	t.Parallel()
	crashed := func(t *testing.T, s scenario) (*sequence, Facts) {
		a := newSequence(t, s)
		a.does(Provision).crashes()
		a.env.secret = true
		a.does(Rest) // its request may be on its way still
		require.Positive(t, a.decision.After)
		a.now = a.now.Add(time.Hour)
		f := a.facts()
		f.ToldMore = true
		return a, f
	}
	t.Run("All", func(t *testing.T) {
		t.Parallel()
		a, _ := crashed(t, aBinding)
		a.does(Rest)
		require.Equal(t, "InjectedBindResult", readyOf(a).Reason)
		require.Equal(t, "InjectedBindResult", a.decision.Event.Reason)
	})
	t.Run("ProblemBesides", func(t *testing.T) {
		t.Parallel()
		a, f := crashed(t, aBinding)
		f.Desired, f.Problem = nil, &Problem{Reason: "ErrorInstanceNotReady", Message: "wait", Waits: true}
		a.doesWith(Rest, f)
		require.Equal(t, "InjectedBindResult", readyOf(a).Reason, "what cannot be asked is not waited for")
	})
	t.Run("NotAgainFetched", func(t *testing.T) {
		t.Parallel()
		a, f := crashed(t, fetchable)
		a.doesWith(Provision, f).responds(CallResult{Response: &osb.Response{}})
		f = a.facts()
		f.ToldMore = true
		a.doesWith(Fetch, f).responds(CallResult{})
		require.True(t, a.resource.Record.Exists)
		require.False(t, a.resource.Record.Mitigating)
	})
	t.Run("Fault", func(t *testing.T) {
		t.Parallel()
		a, f := crashed(t, aBinding)
		a.doesWith(Provision, f).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 500})
		require.True(t, a.resource.Record.Mitigating, "the specification's table counts")
	})
}
