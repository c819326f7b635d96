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
		r.resolve(f)
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

// takeOverMitigation turns a pending mitigation into the deletion's own
// removal.
func (r *Record) takeOverMitigation() {
	if r.Mitigating {
		r.Mitigating, r.KeepsID, r.DeprovisionStatus = false, false, DeprovisionRequired
		r.unset(v1beta1.ConditionOrphanMitigation)
	}
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
	r.resolve(f)
	reason, message := t.done()
	r.succeed(reason, message, f.Now)
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
		r.set(v1beta1.Unresolved(p.Reason, p.Message), f.Now)
	}
	if r.ofOwnInstance(p, f.Now) {
		return Decision{Step: Rest, Record: r}
	}
	r.set(ready, f.Now)
	r.unset(v1beta1.ConditionFailed)
	if p.Waits {
		r.busy(p.Reason, p.Message, f.Now)
	} else {
		r.stall(p.Reason, p.Message, f.Now)
	}
	return Decision{Step: Rest, Record: r, Event: p.event(&t.Record)}
}

// heldBack waits because bindings of the instance still exist.
func (t *Resource) heldBack(f *Facts) Decision {
	r := t.Record
	message := blockedByBindings(f.Holders)
	r.ObservedGeneration = t.Generation
	r.set(v1beta1.NotReady(reasonBlocked, message), f.Now)
	r.busy(reasonBlocked, message, f.Now)
	return Decision{Step: Rest, Record: r}
}

// held waits because the broker is not called now. The duration is not stored: the wait
// ends as soon as the broker responds again.
func (t *Resource) held(f *Facts) Decision {
	r := t.Record
	if _, ok := v1beta1.FindCondition(r.Conditions, v1beta1.ConditionReady); !ok {
		r.ObservedGeneration = t.Generation
		r.set(v1beta1.Waiting(reasonHeld, f.HeldBecause), f.Now)
	}
	if !r.failedForGood() {
		r.busy(reasonHeld, f.HeldBecause, f.Now)
	}
	return Decision{Step: Rest, Held: true, Record: r}
}

// stop rests until the spec changes.
func (t *Resource) stop(f *Facts, reason, message string) Decision {
	r := t.Record
	r.ObservedGeneration, r.Refused = t.Generation, mark(&f.Desired.Request, f.Desired)
	r.fail(reason, message, f.Now)
	return Decision{Step: Rest, Record: r}
}
