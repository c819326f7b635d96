package lifecycle

import (
	"time"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// ofInstance is what Record.Refused holds where the failure is that of a binding's own
// instance: it is over as soon as the instance can be bound to, whatever the spec says.
const ofInstance = "instance"

// Parted says that nothing is left at the broker of a thing that is being deleted, or
// that it was given up: what it has of its own in the cluster can go.
func (t *Thing) Parted() bool {
	r := &t.Record
	return t.Deleting && !t.owes() && !r.Exists && r.InProgress == nil && r.Operation == NoOperation
}

// leaves lets a thing go. Where its own instance is there still it is not let go; but
// what it has at its broker is settled or given up, so that the instance waits for it
// no longer. The warning is told then, and once.
func (t *Thing) leaves(f *Facts, warning string) Decision {
	r := t.Record
	if f.Remains == nil {
		return Decision{Step: Release, Record: r, Warning: warning}
	}
	r.ObservedGeneration = t.Generation
	r.part(f.Remains, f.Now)
	d := Decision{Step: Rest, Record: r}
	if warning != "" {
		d.Event = &Event{Warning: true, Reason: ReasonAbandoned, Message: warning}
	}
	return d
}

// part forgets what was at the broker, and says what of the thing is left.
func (r *Record) part(remains *Problem, now time.Time) {
	r.Operation, r.Async, r.Key, r.Mitigating, r.FetchRequired = NoOperation, false, nil, false, false
	r.Started, r.Deadline, r.NextRetry, r.Retries = time.Time{}, time.Time{}, time.Time{}, 0
	r.Exists, r.InProgress, r.Accepted, r.SecretName, r.Refused = false, nil, nil, "", ""
	if r.Owed == IsOwed {
		r.Owed = NotOwed
	}
	ready := v1beta1.NotReady(remains.Reason, remains.Message)
	if remains.Waits {
		ready = v1beta1.Waiting(remains.Reason, remains.Message)
	}
	r.unset(v1beta1.ConditionFailed, v1beta1.ConditionOrphanMitigation)
	r.set(ready, now)
	r.busy(remains.Reason, remains.Message, now)
}

// parted: the broker has nothing more of a binding whose own instance is there still.
func (c *call) parted(event *Event) Outcome {
	c.record.Owed = WasPaid
	c.record.part(c.facts.Remains, c.facts.Now)
	return Outcome{Record: c.record, Event: event}
}

// passedOn says that the failure that is recorded is the own instance's.
func (t *Thing) passedOn() bool { return t.Record.Refused == ofInstance }

// voided says that a problem is told whatever was told before.
func (t *Thing) voided(f *Facts) bool {
	return f.Problem != nil && (f.Problem.Voids || t.passedOn())
}

// ofOwnInstance takes over what a problem says of the own instance.
func (r *Record) ofOwnInstance(p *Problem, now time.Time) bool {
	if r.Refused == ofInstance {
		r.Refused = ""
	}
	if p.Failed {
		r.Refused = ofInstance
		r.fail(p.Reason, p.Message, now)
	}
	return p.Failed
}
