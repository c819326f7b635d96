package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb"
)

// A sequence takes a resource through one series of steps, with the responses that the test gives.
type sequence struct {
	state

	t        *testing.T
	scenario scenario
	decision Decision
	decided  Facts
	outcome  Outcome
}

func newSequence(t *testing.T, s scenario) *sequence {
	t.Helper()
	return &sequence{t: t, scenario: s, state: s.start()}
}

// later are the facts once every wait is over.
func (a *sequence) later() Facts {
	f := a.scenario.facts(&a.state)
	f.Now = f.Now.Add(24 * time.Hour)
	return f
}

func (a *sequence) facts() Facts { return a.scenario.facts(&a.state) }

// does expects a step now, and writes its intent.
func (a *sequence) does(step Step) *sequence {
	a.t.Helper()
	return a.doesWith(step, a.facts())
}

func (a *sequence) doesWith(step Step, f Facts) *sequence {
	a.t.Helper()
	a.decided, a.decision = f, Next(a.resource, f)
	require.Equal(a.t, step.String(), a.decision.Step.String(), "%+v", a.decision.Record)
	if step.calls() && step != Poll && step != Fetch {
		a.decision.Record.Deadline = a.now.Add(callTimeout)
	}
	a.env.secret = a.env.secret && step != Deprovision && step != MitigateOrphan
	if step == Rest {
		a.resource = a.resource.stored(&a.decision.Record)
	}
	return a
}

func (a *sequence) crashes() {
	a.resource, a.restarted = a.resource.stored(&a.decision.Record), true
}

func (a *sequence) responds(result CallResult) *sequence {
	a.t.Helper()
	a.now = a.now.Add(time.Second)
	a.decided.Now = a.now
	a.outcome = a.resource.HandleResult(a.decision, result, a.decided)
	if a.outcome.Record.ID != a.decision.Record.ID {
		a.ids++
	}
	a.resource = a.resource.stored(&a.outcome.Record)
	return a
}

func (a *sequence) fails(e osb.Error) *sequence {
	a.t.Helper()
	e.Operation = "do"
	return a.responds(CallResult{Err: &e})
}

func (a *sequence) answers(r osb.Response) *sequence {
	a.t.Helper()
	credentials := NoCredentials
	if a.resource.Kind == Binding && !r.Async && a.decision.Step == Provision {
		credentials, a.env.secret = Stored, true
	}
	return a.responds(CallResult{Response: &r, Credentials: credentials})
}

func (a *sequence) polls(last osb.LastOperation) *sequence {
	a.t.Helper()
	return a.responds(CallResult{Poll: &last})
}

func (a *sequence) edit() {
	a.resource.Generation++
	a.body = map[string]string{"a": "b", "b": "a"}[a.body]
}

// later is the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
