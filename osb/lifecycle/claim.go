package lifecycle

import (
	"time"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// ofInstance is the value of Record.Refused if the failure is that of a
// dedicated instance: it ends as soon as the instance can be bound to, without
// a change of spec.
const ofInstance = "instance"

// Parted says whether nothing is left at the broker of a resource that is being
// deleted, or it was abandoned: its dedicated instance can be deleted.
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

// part clears the record of what was at the broker, and reports what remains of
// the resource.
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
	r.report(now).unset(v1beta1.ConditionFailed, v1beta1.ConditionOrphanMitigation)
	r.report(now).set(ready)
	r.report(now).busy(remains.Reason, remains.Message)
}

// passedOn says whether the recorded failure is that of the dedicated instance.
func (t *Resource) passedOn() bool { return t.Record.Refused == ofInstance }

// voided says whether a problem is reported regardless of the current
// conditions.
func (t *Resource) voided(f *Facts) bool {
	return f.Problem != nil && (f.Problem.Voids || t.passedOn())
}

// ofOwnInstance reports the problem of the dedicated instance.
func (r *Record) ofOwnInstance(p *Problem, now time.Time) bool {
	if r.Refused == ofInstance {
		r.Refused = ""
	}
	if p.Failed {
		r.Refused = ofInstance
		r.report(now).fail(p.Reason, p.Message)
	}
	return p.Failed
}
