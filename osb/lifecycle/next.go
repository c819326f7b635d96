package lifecycle

import "time"

// A Step is what to do next.
type Step int

// The steps. Each but Rest and Release is one call to the broker.
const (
	// Rest: nothing, for some time or until something changes.
	Rest Step = iota
	// Provision provisions an instance or creates a binding.
	Provision
	// Update updates an instance.
	Update
	// Deprovision deprovisions or unbinds, for the user who deleted the object.
	Deprovision
	// MitigateOrphan deprovisions or unbinds what is of unknown outcome, without a user.
	MitigateOrphan
	// Poll reads the state of the operation.
	Poll
	// Fetch reads what the broker has: to compare it, or for its credentials.
	Fetch
	// Release removes the object's finalizer.
	Release
)

// String is the step in a word, for logs.
func (s Step) String() string {
	return [...]string{"rest", "make", "change", "remove", "mitigate", "poll", "fetch", "release"}[s]
}

// calls says whether a step is a call to the broker.
func (s Step) calls() bool { return s != Rest && s != Release }

// operation is what status calls a step.
func (s Step) operation() Operation {
	switch s {
	case Provision:
		return Provisioning
	case Update:
		return Updating
	case Deprovision, MitigateOrphan:
		return Deprovisioning
	case Rest, Poll, Fetch, Release:
	}
	return NoOperation
}

// A Decision is the next step.
type Decision struct {
	Step Step
	// Again says that the same request is repeated because its outcome is unknown.
	Again bool
	// First says that the credentials of a new asynchronous binding are fetched
	// for the first time: the response may have none, as that of a bind may.
	First bool
	// After is how long to rest; 0: until something changes.
	After time.Duration
	// Held says that there is a call to make, once the broker may be called again; with
	// Rest only.
	Held bool
	// Record is what to store before the step; where it equals what is stored, there
	// is nothing to write. A call is made only once it is stored: it holds the call's
	// Deadline.
	Record Record
	// Warning is why an object is released although something may be left at
	// its broker; empty otherwise. With Release only.
	Warning string
	// Event is emitted once the record is stored; with Rest only, and usually
	// nil.
	Event *Event
}

// Next decides what to do with a resource: at most one call.
func Next(t Resource, f Facts) Decision {
	t.Record.bound(&f)
	n := next{&t, &f}
	d := n.step()
	if !d.Step.calls() {
		return d
	}
	if f.HeldBecause != "" {
		return n.held()
	}
	return d
}

// next decides what a resource needs, given the facts.
type next struct {
	resource *Resource
	facts    *Facts
}

func (n next) step() Decision {
	t, f := n.resource, n.facts
	r := &t.Record
	if wait := n.mustWait(); wait > 0 {
		return Decision{Step: Rest, After: wait, Record: *r}
	}
	switch {
	case t.Deleting:
		return n.deprovision()
	case t.stores(f) && (!f.ToldMore || f.Problem != nil):
		return n.foundStored()
	case r.Mitigating:
		return n.mitigateOrphan()
	case r.Async && (!f.BrokerGone || f.Problem == nil):
		return n.retryable(Decision{Step: Poll, Record: *r})
	case n.voided():
		return n.blocked()
	case n.stalled() && !n.supplied() || f.Problem != nil && n.complete():
		return Decision{Step: Rest, Record: *r}
	case f.Problem != nil:
		return n.blocked()
	case n.unadopted():
		return n.adopt()
	case r.FetchRequired && f.Fetchable:
		return n.retryable(n.fetch())
	case r.FetchRequired && r.Operation == NoOperation: // the catalog says otherwise now
		return n.retryable(n.intend(Provision, true))
	case r.Operation != NoOperation:
		return n.lost()
	case !r.Exists:
		return n.retryable(n.provision())
	case f.SecretLost:
		return n.retryable(n.secret())
	}
	return n.update()
}

// mustWait returns how long an abandoned call may still reach the broker: it could undo
// what is done before then. A provision, bind or update of this process may have been cut
// off, so the wait covers it too. A deletion does not wait for an update of this process, which
// could undo nothing of it.
func (n next) mustWait() time.Duration {
	t, f := n.resource, n.facts
	r := &t.Record
	if r.Operation == NoOperation || r.Async || f.Settled && (r.Operation == Deprovisioning || t.Deleting && r.Operation == Updating) {
		return 0
	}
	return r.Deadline.Sub(f.Now)
}

// retryable is a decision, or the rest until the next attempt is due.
func (n next) retryable(d Decision) Decision {
	t, f := n.resource, n.facts
	if wait := t.Record.NextRetry.Sub(f.Now); wait > 0 && !t.edited() && !n.woken() {
		return Decision{Step: Rest, After: wait, Record: t.Record}
	}
	return d
}

// woken says whether a failed attempt is repeated before its time. A poll, and what waits
// until an earlier request cannot be acted on any more, have reasons of their own to wait.
func (n next) woken() bool {
	return n.facts.Woken && !n.resource.Record.Async && !n.resource.Record.Deadline.After(n.facts.Now)
}

// stalled says whether the attempt for this spec failed for good, and the spec
// has not changed since.
func (n next) stalled() bool {
	t, f := n.resource, n.facts
	if f.Desired != nil && t.Record.Refused != "" && t.Record.Refused != mark(&f.Desired.Request, f.Desired) {
		return false // a Secret or the catalog was mended
	}
	return t.Record.failedForGood() && t.Generation == t.Record.ObservedGeneration
}

// provision provisions or binds. An instance whose ID was not generated for
// it may exist already: it is fetched first. If an earlier request may have
// created something other than desired now, that is removed first.
func (n next) provision() Decision {
	t, f := n.resource, n.facts
	switch {
	case t.Kind == Instance && !t.own() && f.Fetchable && !t.Record.Absent:
		return Decision{Step: Fetch, Record: t.Record}
	case t.own() && t.Record.InProgress != nil && !t.repeats(f.Desired):
		return n.intend(MitigateOrphan, false)
	}
	return n.intend(Provision, t.Record.InProgress != nil)
}

// fetch reads what the broker has. The first fetch of a new binding's
// credentials is recorded: a broker may return them once, and a response
// without them is accepted once.
func (n next) fetch() Decision {
	t, f := n.resource, n.facts
	d := Decision{Step: Fetch, Record: t.Record}
	if t.asksFirst() {
		d.First, d.Record.Started = true, f.Now
	}
	return d
}

// lost continues after a call whose outcome is unknown. It repeats the same request: a
// broker answers it as it answered the first. If the request would differ now, it first
// removes what the earlier one may have made.
func (n next) lost() Decision {
	t, f := n.resource, n.facts
	r := &t.Record
	switch {
	case r.Operation == Updating:
		return n.retryable(n.update())
	case r.Operation == Deprovisioning: // of a mitigation that was ended by other means
		return n.retryable(n.provision())
	case t.repeats(f.Desired) || !t.own():
		return n.retryable(n.intend(Provision, true))
	}
	return n.intend(MitigateOrphan, false)
}

// mitigateOrphan removes what a request of unknown outcome may have made.
func (n next) mitigateOrphan() Decision {
	t, f := n.resource, n.facts
	if f.BrokerGone {
		return Decision{Step: Rest, Record: t.Record}
	}
	if t.Record.Async {
		return n.retryable(Decision{Step: Poll, Record: t.Record})
	}
	return n.retryable(n.intend(MitigateOrphan, false))
}

// deprovision continues a deletion.
func (n next) deprovision() Decision {
	t, f := n.resource, n.facts
	r := &t.Record
	switch {
	case !t.mustDeprovision() && len(f.Holders) == 0:
		return n.leaves(t.left())
	case t.Abandoned:
		return n.leaves("it was abandoned: its broker was not asked to remove it")
	case len(f.Holders) > 0:
		return n.heldBack()
	case f.BrokerGone:
		return n.leaves("its broker is not registered any more: it was not asked to remove it")
	case r.Async && r.Operation == Deprovisioning:
		return n.retryable(Decision{Step: Poll, Record: *r})
	case r.Async && r.Operation == Updating: // only a creation can be overtaken
		return n.retryable(Decision{Step: Poll, Record: *r})
	case r.Operation != Deprovisioning || r.Mitigating: // what was tried before is not waited for
		return n.intend(Deprovision, false)
	}
	return n.retryable(n.intend(Deprovision, true))
}

// secret gets the credentials of a binding whose Secret is lost: it fetches
// them, or binds again if they cannot be fetched.
func (n next) secret() Decision {
	t, f := n.resource, n.facts
	if f.Fetchable {
		return Decision{Step: Fetch, Record: t.Record}
	}
	return n.intend(Provision, true)
}

// update sends a changed spec to the broker, or finds that nothing changed.
func (n next) update() Decision {
	t, f := n.resource, n.facts
	if t.Kind == Binding {
		return Decision{Step: Rest, Record: n.settled()}
	}
	changes := t.Changes(f.Desired)
	switch {
	case t.leavesPlan(f.Desired) && !f.Desired.PlanUpdatable:
		return n.stop(ReasonPlanNotUpdatable, "the plan that it has, or else its class, says that it cannot be changed: put that plan back")
	case !changes.Any():
		return Decision{Step: Rest, Record: n.settled()}
	}
	return n.retryable(n.intend(Update, t.Record.Operation == Updating))
}
