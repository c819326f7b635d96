package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb"
)

// A tale goes one way with a thing: step by step, with the answers of the teller.
type tale struct {
	state

	t        *testing.T
	scene    scene
	decision Decision
	decided  Facts
	outcome  Outcome
}

func newTale(t *testing.T, s scene) *tale {
	t.Helper()
	return &tale{t: t, scene: s, state: s.start()}
}

// later are the facts once every wait is over.
func (a *tale) later() Facts {
	f := a.scene.facts(&a.state)
	f.Now = f.Now.Add(24 * time.Hour)
	return f
}

func (a *tale) facts() Facts { return a.scene.facts(&a.state) }

// does expects a step now, and writes its intent.
func (a *tale) does(step Step) *tale {
	a.t.Helper()
	return a.doesWith(step, a.facts())
}

func (a *tale) doesWith(step Step, f Facts) *tale {
	a.t.Helper()
	a.decided, a.decision = f, Next(a.thing, f)
	require.Equal(a.t, step.String(), a.decision.Step.String(), "%+v", a.decision.Record)
	if step.calls() && step != Poll && step != Fetch {
		a.decision.Record.Deadline = a.now.Add(callTimeout)
	}
	if step == Rest {
		a.thing = a.thing.stored(&a.decision.Record)
	}
	return a
}

func (a *tale) crashes() {
	a.thing, a.restarted = a.thing.stored(&a.decision.Record), true
}

func (a *tale) replies(r Reply) *tale {
	a.t.Helper()
	a.now = a.now.Add(time.Second)
	a.decided.Now = a.now
	a.outcome = a.thing.Replied(a.decision, r, a.decided)
	if a.outcome.Record.ID != a.decision.Record.ID {
		a.ids++
	}
	a.thing = a.thing.stored(&a.outcome.Record)
	return a
}

func (a *tale) fails(e osb.Error) *tale {
	a.t.Helper()
	e.Operation = "do"
	return a.replies(Reply{Err: &e})
}

func (a *tale) answers(r osb.Response) *tale {
	a.t.Helper()
	credentials := NoCredentials
	if a.thing.Kind == Binding && !r.Async {
		credentials, a.world.secret = Stored, true
	}
	return a.replies(Reply{Response: &r, Credentials: credentials})
}

func (a *tale) polls(last osb.LastOperation) *tale {
	a.t.Helper()
	return a.replies(Reply{Poll: &last})
}

func (a *tale) edit() {
	a.thing.Generation++
	a.body = map[string]string{"a": "b", "b": "a"}[a.body]
}
