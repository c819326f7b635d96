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
	d := next(&t, &f)
	if !d.Step.calls() {
		return d
	}
	if f.HeldBecause != "" {
		return t.held(&f)
	}
	return d
}

func next(t *Resource, f *Facts) Decision {
	r := &t.Record
	if wait := t.mustWait(f); wait > 0 {
		return Decision{Step: Rest, After: wait, Record: *r}
	}
	switch {
	case t.Deleting:
		return t.nextDeprovision(f)
	case t.stores(f) && (!f.ToldMore || f.Problem != nil):
		return t.foundStored(f)
	case r.Mitigating:
		return t.nextOrphanMitigation(f)
	case r.Async && (!f.BrokerGone || f.Problem == nil):
		return t.retryable(f, Decision{Step: Poll, Record: *r})
	case t.voided(f):
		return t.blocked(f)
	case t.stalled(f) || f.Problem != nil && t.complete(f):
		return Decision{Step: Rest, Record: *r}
	case f.Problem != nil:
		return t.blocked(f)
	case !r.Exists && t.Adopts():
		return t.nextAdoption(f)
	case r.FetchRequired && f.Fetchable:
		return t.retryable(f, t.nextFetch(f))
	case r.FetchRequired && r.Operation == NoOperation: // the catalog says otherwise now
		return t.retryable(f, t.intend(f, Provision, true))
	case r.Operation != NoOperation:
		return t.nextLost(f)
	case !r.Exists:
		return t.retryable(f, t.nextProvision(f))
	case f.SecretLost:
		return t.retryable(f, t.nextSecret(f))
	}
	return t.nextUpdate(f)
}

// mustWait returns how long an abandoned call may still reach the broker: it could undo
// what is done before then. A provision or bind call of this process may have been cut
// off, so the wait covers it too.
func (t *Resource) mustWait(f *Facts) time.Duration {
	r := &t.Record
	if r.Operation == NoOperation || r.Async || f.Settled && r.Operation != Provisioning {
		return 0
	}
	return r.Deadline.Sub(f.Now)
}

// retryable is a decision, or the rest until the next attempt is due.
func (t *Resource) retryable(f *Facts, d Decision) Decision {
	if wait := t.Record.NextRetry.Sub(f.Now); wait > 0 && !t.edited() {
		return Decision{Step: Rest, After: wait, Record: t.Record}
	}
	return d
}

// edited says whether the spec changed since the last call: an earlier failure
// no longer delays the next one.
func (t *Resource) edited() bool {
	return t.Generation != t.Record.ObservedGeneration && !t.Deleting && !t.Record.Mitigating && !t.Record.Async
}

// stalled says whether the attempt for this spec failed for good, and the spec
// has not changed since.
func (t *Resource) stalled(f *Facts) bool {
	if f.Desired != nil && t.Record.Refused != "" && t.Record.Refused != mark(&f.Desired.Request, f.Desired) {
		return false // a Secret or the catalog was mended
	}
	return t.Record.failedForGood() && t.Generation == t.Record.ObservedGeneration
}

// nextProvision provisions or binds. An instance whose ID was not generated for
// it may exist already: it is fetched first. If an earlier request may have
// created something other than desired now, that is removed first.
func (t *Resource) nextProvision(f *Facts) Decision {
	switch {
	case t.Kind == Instance && !t.own() && f.Fetchable && !t.Record.Absent:
		return Decision{Step: Fetch, Record: t.Record}
	case t.own() && t.Record.InProgress != nil && !t.repeats(f.Desired):
		return t.intend(f, MitigateOrphan, false)
	}
	return t.intend(f, Provision, t.Record.InProgress != nil)
}

// nextFetch reads what the broker has. The first fetch of a new binding's
// credentials is recorded: a broker may return them once, and a response
// without them is accepted once.
func (t *Resource) nextFetch(f *Facts) Decision {
	d := Decision{Step: Fetch, Record: t.Record}
	if t.asksFirst() {
		d.First, d.Record.Started = true, f.Now
	}
	return d
}

// asksFirst says whether a new binding was created asynchronously, and its
// credentials were not fetched yet.
func (t *Resource) asksFirst() bool {
	r := &t.Record
	return t.Kind == Binding && r.FetchRequired && !r.Exists && r.Started.IsZero()
}

// nextLost continues after a call whose outcome is unknown. It repeats the same request: a
// broker answers it as it answered the first. If the request would differ now, it first
// removes what the earlier one may have made.
func (t *Resource) nextLost(f *Facts) Decision {
	r := &t.Record
	switch {
	case r.Operation == Updating:
		return t.retryable(f, t.nextUpdate(f))
	case r.Operation == Deprovisioning: // of a mitigation that was ended by other means
		return t.retryable(f, t.nextProvision(f))
	case t.repeats(f.Desired) || !t.own():
		return t.retryable(f, t.intend(f, Provision, true))
	}
	return t.intend(f, MitigateOrphan, false)
}

// nextOrphanMitigation removes what a request of unknown outcome may have made.
func (t *Resource) nextOrphanMitigation(f *Facts) Decision {
	if f.BrokerGone {
		return Decision{Step: Rest, Record: t.Record}
	}
	if t.Record.Async {
		return t.retryable(f, Decision{Step: Poll, Record: t.Record})
	}
	return t.retryable(f, t.intend(f, MitigateOrphan, false))
}

// nextDeprovision continues a deletion.
func (t *Resource) nextDeprovision(f *Facts) Decision {
	r := &t.Record
	switch {
	case !t.mustDeprovision() && len(f.Holders) == 0:
		return t.leaves(f, t.left())
	case t.Abandoned:
		return t.leaves(f, "it was abandoned: its broker was not asked to remove it")
	case len(f.Holders) > 0:
		return t.heldBack(f)
	case f.BrokerGone:
		return t.leaves(f, "its broker is not registered any more: it was not asked to remove it")
	case r.Async && r.Operation == Deprovisioning:
		return t.retryable(f, Decision{Step: Poll, Record: *r})
	case r.Async && r.Operation == Updating: // only a creation can be overtaken
		return t.retryable(f, Decision{Step: Poll, Record: *r})
	case r.Operation != Deprovisioning || r.Mitigating: // what was tried before is not waited for
		return t.intend(f, Deprovision, false)
	}
	return t.retryable(f, t.intend(f, Deprovision, true))
}

// left says what stays at the broker of a resource for which nothing must be deprovisioned; empty: nothing.
func (t *Resource) left() string {
	if t.Record.Exists || t.Record.InProgress != nil {
		return "its ID at the broker was not made for it: what is there under that ID stays"
	}
	return ""
}

// nextSecret gets the credentials of a binding whose Secret is lost: it fetches
// them, or binds again if they cannot be fetched.
func (t *Resource) nextSecret(f *Facts) Decision {
	if f.Fetchable {
		return Decision{Step: Fetch, Record: t.Record}
	}
	return t.intend(f, Provision, true)
}

// nextUpdate sends a changed spec to the broker, or finds that nothing changed.
func (t *Resource) nextUpdate(f *Facts) Decision {
	if t.Kind == Binding {
		return Decision{Step: Rest, Record: t.settled(f)}
	}
	changes := t.Changes(f.Desired)
	switch {
	case t.leavesPlan(f.Desired) && !f.Desired.PlanUpdatable:
		return t.stop(f, ReasonPlanNotUpdatable, "the plan that it has, or else its class, says that it cannot be changed: put that plan back")
	case !changes.Any():
		return Decision{Step: Rest, Record: t.settled(f)}
	}
	return t.retryable(f, t.intend(f, Update, t.Record.Operation == Updating))
}

// leavesPlan says whether the desired plan is another than the one that the
// broker is known to have. A change back to that one is allowed, also after an
// update of unknown outcome.
func (t *Resource) leavesPlan(desired *Desired) bool {
	has := t.Record.Applied
	return has != nil && has.PlanExternalID != desired.PlanExternalID
}
