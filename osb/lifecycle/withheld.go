package lifecycle

import (
	"time"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// withheldPause lies between two looks at what kept a call from being made: what was
// seen before it may be old news.
const withheldPause = time.Second

// withheld: after the intent was stored, something was found that keeps the call from
// being made. All is as it was before the intent, and waits.
func (t *Resource) withheld(p *Problem, f Facts) Outcome {
	f.Desired, f.Problem = nil, p
	d := t.blocked(&f)
	d.Record.NextRetry = f.Now.Add(withheldPause)
	return Outcome{Record: d.Record, After: withheldPause, Event: d.Event}
}

// event tells of a problem that was not there before; nil: nothing is told.
func (p *Problem) event(before *Record) *Event {
	ready, _ := v1beta1.FindCondition(before.Conditions, v1beta1.ConditionReady)
	if !p.Told || ready.Reason == p.Reason {
		return nil
	}
	return &Event{Reason: p.Reason, Message: p.Message}
}
