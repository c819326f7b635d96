package lifecycle

import (
	"time"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// intend returns the decision to make a call, with the record to store before it. The
// record says that the call may have been made, with which ID and which body. The caller
// adds its Deadline, because it knows how long the call may take.
func (t *Resource) intend(f *Facts, step Step, again bool) Decision {
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

// storable is the request as status can store it, so that a stored request is
// comparable with the desired one.
func (t *Resource) storable(desired *Desired) Request {
	request := desired.Request
	if t.Kind == Instance {
		request.InstanceID = ""
		return request
	}
	request.PlanName, request.Cluster, request.ContextChecksum, request.MaintenanceVersion, request.UpdateRequests = "", false, "", "", 0
	return request
}

// repeats says whether the request equals the one whose outcome is unknown.
func (t *Resource) repeats(desired *Desired) bool {
	return t.Record.InProgress != nil && t.Record.InProgress.same(new(t.storable(desired)))
}

// sends returns the request of a step. An update keeps the maintenance version unless a
// new one was requested.
func (t *Resource) sends(desired *Desired, step Step) *Request {
	request := t.storable(desired)
	if step == Update && t.Record.Applied != nil && !t.Changes(desired).Maintenance {
		request.MaintenanceVersion = t.Record.Applied.MaintenanceVersion
	}
	return &request
}

// settled is the record of a resource that is as its spec asks.
func (t *Resource) settled(f *Facts) Record {
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

// atRest says whether the record of a resource that matches its spec reports
// so.
func (t *Resource) atRest() bool {
	r := &t.Record
	return t.Generation == r.ObservedGeneration && r.holds(v1beta1.ConditionReady) && r.Operation == NoOperation &&
		r.Retries == 0 && r.NextRetry.IsZero() && !r.holds(v1beta1.ConditionReconciling)
}

// complete says whether a binding has all that its spec asks for: problems that
// block calls do not affect it.
func (t *Resource) complete(f *Facts) bool {
	return t.Kind == Binding && t.Record.Exists && !f.SecretLost && t.atRest()
}

// blocked waits because the spec cannot be sent to the broker.
func (t *Resource) blocked(f *Facts) Decision {
	r := t.Record
	p := f.Problem
	ready := v1beta1.NotReady(p.Reason, p.Message)
	if p.Waits {
		ready = v1beta1.Waiting(p.Reason, p.Message)
	}
	if !r.Async {
		r.ObservedGeneration = t.Generation
	}
	if t.edited() || r.Operation == NoOperation && !r.NextRetry.After(f.Now) {
		// The broker may have requested a delay until then, which another
		// problem does not end. An edit ends it now, because later passes find
		// ObservedGeneration up to date, and see no edit.
		r.Retries, r.NextRetry = 0, time.Time{}
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
func (t *Resource) heldBack(f *Facts) Decision {
	r := t.Record
	message := blockedByBindings(f.Holders)
	r.ObservedGeneration = t.Generation
	r.report(f.Now).set(v1beta1.NotReady(reasonBlocked, message))
	r.report(f.Now).busy(reasonBlocked, message)
	return Decision{Step: Rest, Record: r}
}

// held waits because the broker is not called now. The duration is not stored: the wait
// ends as soon as the broker responds again.
func (t *Resource) held(f *Facts) Decision {
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
func (t *Resource) stop(f *Facts, reason, message string) Decision {
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
