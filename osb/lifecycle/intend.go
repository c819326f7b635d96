package lifecycle

import (
	"time"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// intend is the decision to make a call, with the record that is stored before it:
// whoever finds it knows that the call may have been made, with which ID and which
// body. Its Deadline is added by whoever makes the call, who knows how long it takes.
func (t *Thing) intend(f *Facts, step Step, again bool) Decision {
	r := t.Record
	operation := step.operation()
	if r.Operation != operation || !again {
		r.Started = f.Now
	}
	if t.edited() || step == Remove && r.Operation != Removing {
		r.Retries = 0
	}
	r.Operation, r.Async, r.Key, r.NextRetry = operation, false, nil, time.Time{}
	// Credentials that cannot be fetched are asked for by the same request: see askAgain.
	r.FetchRequired = r.FetchRequired && t.Kind == Binding && step == Make && again
	if r.ID = t.id(); r.ID == "" {
		r.ID = f.NewID
	}
	if step == Make || step == Change {
		r.InProgress, r.Refused = t.sends(f.Ask, step), ""
		r.ObservedGeneration = t.Generation
		r.resolve(f)
	}
	if step == Remove {
		r.ObservedGeneration = t.Generation
	}
	switch {
	case step == Make && (t.own() || r.Absent):
		r.Owed = IsOwed
	case step == Mitigate:
		r.Mitigating = true
	}
	r.underWay(words(t.Kind, step), step, f.Now)
	return Decision{Step: step, Again: again, Record: r}
}

// storable is what is sent, as far as status holds it: what is read from there must
// compare with what is asked for.
func (t *Thing) storable(ask *Ask) Sent {
	sent := ask.Sent
	if t.Kind == Instance {
		sent.InstanceID = ""
		return sent
	}
	sent.PlanName, sent.Cluster, sent.ContextChecksum, sent.MaintenanceVersion, sent.UpdateRequests = "", false, "", "", 0
	return sent
}

// repeats says that the request would be the one whose outcome is not known.
func (t *Thing) repeats(ask *Ask) bool {
	return t.Record.InProgress != nil && t.Record.InProgress.same(new(t.storable(ask)))
}

// sends is what a step sends. An update says nothing of a version that nobody asked
// for.
func (t *Thing) sends(ask *Ask, step Step) *Sent {
	sent := t.storable(ask)
	if step == Change && t.Record.Accepted != nil && !t.Changes(ask).Maintenance {
		sent.MaintenanceVersion = t.Record.Accepted.MaintenanceVersion
	}
	return &sent
}

// settled is the record of a thing that is as its spec asks.
func (t *Thing) settled(f *Facts) Record {
	r := t.Record
	if t.atRest() {
		return r
	}
	r.Operation, r.InProgress, r.Started, r.Deadline = NoOperation, nil, time.Time{}, time.Time{}
	r.Retries, r.NextRetry = 0, time.Time{}
	r.ObservedGeneration, r.ReconciledGeneration = t.Generation, t.Generation
	if t.Kind == Instance && r.Accepted != nil && r.Accepted.UpdateRequests != f.Ask.UpdateRequests {
		accepted := *r.Accepted
		accepted.UpdateRequests = f.Ask.UpdateRequests
		r.Accepted = &accepted
	}
	r.resolve(f)
	reason, message := t.done()
	r.succeed(reason, message, f.Now)
	return r
}

// atRest says that the record of a thing that is as its spec asks says so.
func (t *Thing) atRest() bool {
	r := &t.Record
	return t.Generation == r.ObservedGeneration && r.holds(v1beta1.ConditionReady) && r.Operation == NoOperation &&
		r.Retries == 0 && r.NextRetry.IsZero() && !r.holds(v1beta1.ConditionReconciling)
}

// complete says that a binding has all that its spec asks for: what keeps others from
// their brokers is nothing to it.
func (t *Thing) complete(f *Facts) bool {
	return t.Kind == Binding && t.Record.Exists && !f.SecretLost && t.atRest()
}

// blocked rests because the spec cannot be brought to the broker.
func (t *Thing) blocked(f *Facts) Decision {
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
		// The broker may have asked for patience until then: that does not end because
		// something else blocks. An edit ends it now: later passes find ObservedGeneration
		// up to date, and see no edit.
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

// heldBack rests because bindings keep an instance.
func (t *Thing) heldBack(f *Facts) Decision {
	r := t.Record
	message := blockedByBindings(f.Holders)
	r.ObservedGeneration = t.Generation
	r.set(v1beta1.NotReady(reasonBlocked, message), f.Now)
	r.busy(reasonBlocked, message, f.Now)
	return Decision{Step: Rest, Record: r}
}

// held rests because the broker is not called now. How long that lasts is not stored: it
// is over with the broker's first sign of life.
func (t *Thing) held(f *Facts) Decision {
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
func (t *Thing) stop(f *Facts, reason, message string) Decision {
	r := t.Record
	r.ObservedGeneration, r.Refused = t.Generation, mark(&f.Ask.Sent, f.Ask)
	r.fail(reason, message, f.Now)
	return Decision{Step: Rest, Record: r}
}
