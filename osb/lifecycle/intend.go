package lifecycle

import (
	"time"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// intend returns the decision to make a call, with the record to store before it. The
// record says that the call may have been made, with which ID and which body. The caller
// adds its Deadline, because it knows how long the call may take.
func (n next) intend(step Step, again bool) Decision {
	t, f := n.resource, n.facts
	r := t.Record
	operation := step.operation()
	first := step == Provision && again && t.asksFirst()
	if r.Operation != operation || !again || first {
		r.Started = f.Now
	}
	if t.edited() || step == Deprovision && !again {
		r.Retries = 0
	}
	r.Operation, r.Async, r.Key, r.NextRetry = operation, false, nil, time.Time{}
	// Credentials that cannot be fetched are asked for by the same request: see askAgain.
	r.FetchRequired = r.FetchRequired && t.Kind == Binding && step == Provision && again
	if r.ID = t.id(); r.ID == "" {
		r.ID = f.NewID
	}
	if step == Provision || step == Update {
		r.InProgress, r.Refused = t.sends(f.Desired, step), ""
		r.ObservedGeneration = t.Generation
		r.report(f.Now).resolve(f.Desired.Rule)
	}
	if step == Deprovision {
		r.ObservedGeneration = t.Generation
		r.takeOverMitigation()
	}
	switch {
	case step == Provision && (t.own() || r.Absent):
		r.DeprovisionStatus = DeprovisionRequired
	case step == MitigateOrphan:
		r.Mitigating = true
	}
	r.underWay(words(t.Kind, step), step, f.Now)
	return Decision{Step: step, Again: again, First: first, Record: r}
}

// settled is the record of a resource that is as its spec asks.
func (n next) settled() Record {
	t, f := n.resource, n.facts
	r := t.Record
	if t.atRest() {
		return r
	}
	r.Operation, r.InProgress, r.Started, r.Deadline = NoOperation, nil, time.Time{}, time.Time{}
	r.Retries, r.NextRetry = 0, time.Time{}
	r.ObservedGeneration, r.ReconciledGeneration = t.Generation, t.Generation
	if t.Kind == Instance && r.Applied != nil {
		applied := *r.Applied
		applied.UpdateRequests, applied.PlanRefName = f.Desired.UpdateRequests, f.Desired.PlanRefName
		r.Applied = &applied
	}
	r.report(f.Now).resolve(f.Desired.Rule)
	reason, message := t.done()
	r.report(f.Now).succeed(reason, message)
	return r
}

// complete says whether a binding has all that its spec asks for: problems that
// block calls do not affect it.
func (n next) complete() bool {
	t, f := n.resource, n.facts
	return t.Kind == Binding && t.Record.Exists && !f.SecretLost && t.atRest()
}

// blocked waits because the spec cannot be sent to the broker.
func (n next) blocked() Decision {
	t, f := n.resource, n.facts
	r := t.Record
	p := f.Problem
	ready := v1beta1.NotReady(p.Reason, p.Message)
	if p.Waits {
		ready = v1beta1.Waiting(p.Reason, p.Message)
	}
	if !r.Async {
		r.ObservedGeneration = t.Generation
	}
	switch {
	case t.edited(): // later passes find ObservedGeneration up to date, and see no edit
		r.Retries, r.NextRetry = 0, time.Time{}
	case r.Operation == NoOperation && !r.NextRetry.After(f.Now):
		// The broker may have requested a delay until then, which another problem does not end. What
		// comes and goes, such as a plan, does not make the wait after the next failure shorter.
		r.NextRetry = time.Time{}
	}
	if p.Undecided {
		r.report(f.Now).set(v1beta1.Unresolved(p.Reason, p.Message))
	}
	if r.ofOwnInstance(p, f.Now) {
		return Decision{Step: Rest, Record: r}
	}
	r.report(f.Now).set(ready)
	r.report(f.Now).unset(v1beta1.ConditionFailed)
	if p.Waits {
		r.report(f.Now).busy(p.Reason, p.Message)
	} else {
		r.report(f.Now).stall(p.Reason, p.Message)
	}
	return Decision{Step: Rest, Record: r, Event: p.event(&t.Record)}
}

// heldBack waits because bindings of the instance still exist.
func (n next) heldBack() Decision {
	t, f := n.resource, n.facts
	r := t.Record
	message := blockedByBindings(f.Holders)
	r.ObservedGeneration = t.Generation
	r.report(f.Now).set(v1beta1.NotReady(reasonBlocked, message))
	r.report(f.Now).busy(reasonBlocked, message)
	return Decision{Step: Rest, Record: r}
}

// held waits because the broker is not called now. The duration is not stored: the wait
// ends as soon as the broker responds again.
func (n next) held() Decision {
	t, f := n.resource, n.facts
	r := t.Record
	if _, ok := v1beta1.FindCondition(r.Conditions, v1beta1.ConditionReady); !ok {
		r.ObservedGeneration = t.Generation
		r.report(f.Now).set(v1beta1.Waiting(reasonHeld, f.HeldBecause))
	}
	if !r.failedForGood() {
		r.report(f.Now).busy(reasonHeld, f.HeldBecause)
	}
	return Decision{Step: Rest, Held: true, Record: r}
}

// stop rests until the spec changes.
func (n next) stop(reason, message string) Decision {
	t, f := n.resource, n.facts
	r := t.Record
	r.ObservedGeneration, r.Refused = t.Generation, mark(&f.Desired.Request, f.Desired)
	r.report(f.Now).fail(reason, message)
	return Decision{Step: Rest, Record: r}
}

// withheldPause lies between two looks at what kept a call from being made: what was
// seen before it may be old news.
const withheldPause = time.Second

// withheld: after the intent was stored, something was found that keeps the call from
// being made. All is as it was before the intent, and waits.
func (n next) withheld(p *Problem) Outcome {
	f := n.facts
	f.Desired, f.Problem = nil, p
	d := n.blocked()
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

// leaves releases a resource. While its own instance still exists it is not released; but
// what it has at its broker is settled or given up, so the instance no longer waits for it.
// The warning is emitted then, once.
func (n next) leaves(warning string) Decision {
	t, f := n.resource, n.facts
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

// voided says whether a problem is reported regardless of the current
// conditions.
func (n next) voided() bool {
	t, f := n.resource, n.facts
	return f.Problem != nil && (f.Problem.Voids || t.passedOn())
}
