package lifecycle

import (
	"time"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// ofInstance is what Record.Refused holds where the failure is that of a binding's own
// instance: it is over as soon as the instance can be bound to, whatever the spec says.
const ofInstance = "instance"

// Parted says that nothing is left at the broker of a resource that is being deleted, or
// that it was given up: what it has of its own in the cluster can go.
func (t *Resource) Parted() bool {
	r := &t.Record
	return t.Deleting && !t.mustDeprovision() && !r.Exists && r.InProgress == nil && r.Operation == NoOperation
}

// leaves releases a resource. While its own instance still exists it is not released; but
// what it has at its broker is settled or given up, so the instance no longer waits for it.
// The warning is emitted then, once.
func (t *Resource) leaves(f *Facts, warning string) Decision {
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

// part forgets what was at the broker, and says what of the resource is left.
func (r *Record) part(remains *Problem, now time.Time) {
	r.Operation, r.Async, r.Key, r.Mitigating, r.KeepsID, r.FetchRequired = NoOperation, false, nil, false, false, false
	r.Started, r.Deadline, r.NextRetry, r.Retries = time.Time{}, time.Time{}, time.Time{}, 0
	r.Exists, r.InProgress, r.Applied, r.SecretName, r.Refused = false, nil, nil, "", ""
	if r.DeprovisionStatus == DeprovisionRequired {
		r.DeprovisionStatus = DeprovisionNotRequired
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
	c.record.DeprovisionStatus = DeprovisionSucceeded
	c.record.part(c.facts.Remains, c.facts.Now)
	return Outcome{Record: c.record, Event: event}
}

// passedOn says that the failure that is recorded is the own instance's.
func (t *Resource) passedOn() bool { return t.Record.Refused == ofInstance }

// voided says that a problem is told whatever was told before.
func (t *Resource) voided(f *Facts) bool {
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
