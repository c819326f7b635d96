package lifecycle

import "time"

// A Step is what to do next.
type Step int

// The steps. Each but Rest and Release is one call to the broker.
const (
	// Rest: nothing, for some time or until something changes.
	Rest Step = iota
	// Make provisions or binds.
	Make
	// Change updates an instance.
	Change
	// Remove deprovisions or unbinds, for the user who deleted it.
	Remove
	// Mitigate deprovisions or unbinds what is of unknown outcome, for nobody.
	Mitigate
	// Poll asks how the operation goes.
	Poll
	// Fetch reads what the broker has: to compare it, or for its credentials.
	Fetch
	// Release lets the object go: its finalizer is taken off.
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
	case Make:
		return Making
	case Change:
		return Changing
	case Remove, Mitigate:
		return Removing
	case Rest, Poll, Fetch, Release:
	}
	return NoOperation
}

// A Decision is the next step.
type Decision struct {
	Step Step
	// Again says that the same request is sent once more, because nobody knows what
	// became of it.
	Again bool
	// After is how long to rest; 0: until something changes.
	After time.Duration
	// Held says that there is a call to make, once the broker may be called again; with
	// Rest only.
	Held bool
	// Record is what to store before the step; where it equals what is stored, there
	// is nothing to write. A call is made only once it is stored: it holds the call's
	// Deadline.
	Record Record
	// Warning is why an object is let go although something may be left at its broker;
	// empty otherwise. With Release only.
	Warning string
	// Event is told once the record is stored; with Rest only, and nil most times.
	Event *Event
}

// Next decides what to do with a thing. It decides on at most one call.
func Next(t Thing, f Facts) Decision {
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

func next(t *Thing, f *Facts) Decision {
	r := &t.Record
	if wait := t.mustWait(f); wait > 0 {
		return Decision{Step: Rest, After: wait, Record: *r}
	}
	switch {
	case t.Deleting:
		return t.nextRemoval(f)
	case t.stores(f):
		return t.foundStored(f)
	case r.Mitigating:
		return t.nextMitigation(f)
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
		return t.retryable(f, Decision{Step: Fetch, Record: *r})
	case r.FetchRequired && r.Operation == NoOperation: // the catalog says otherwise now
		return t.retryable(f, t.intend(f, Make, true))
	case r.Operation != NoOperation:
		return t.nextLost(f)
	case !r.Exists:
		return t.retryable(f, t.nextMaking(f))
	case f.SecretLost:
		return t.retryable(f, t.nextSecret(f))
	}
	return t.nextChange(f)
}

// mustWait is how long a call may still arrive whose answer nobody waits for: what is
// done before then might be undone by it. A call of this process that makes something
// may have been cut off, so that it is waited for too.
func (t *Thing) mustWait(f *Facts) time.Duration {
	r := &t.Record
	if r.Operation == NoOperation || r.Async || f.Settled && r.Operation != Making {
		return 0
	}
	return r.Deadline.Sub(f.Now)
}

// retryable is a decision, or the rest until the time for the next try has come.
func (t *Thing) retryable(f *Facts, d Decision) Decision {
	if wait := t.Record.NextRetry.Sub(f.Now); wait > 0 && !t.edited() {
		return Decision{Step: Rest, After: wait, Record: t.Record}
	}
	return d
}

// edited says that the spec changed since it was last acted on: what failed before is
// not waited for.
func (t *Thing) edited() bool {
	return t.Generation != t.Record.ObservedGeneration && !t.Deleting && !t.Record.Mitigating && !t.Record.Async
}

// nextMaking provisions or binds. An instance whose ID was not minted for it may be
// there already: it is looked for first. Where an earlier request may have made
// something that is not what is asked for now, that is removed first.
func (t *Thing) nextMaking(f *Facts) Decision {
	switch {
	case t.Kind == Instance && !t.own() && f.Fetchable && !t.Record.Absent:
		return Decision{Step: Fetch, Record: t.Record}
	case t.own() && t.Record.InProgress != nil && !t.repeats(f.Ask):
		return t.intend(f, Mitigate, false)
	}
	return t.intend(f, Make, t.Record.InProgress != nil)
}

// nextLost goes on after a call of which nobody knows the outcome. The same request is
// sent again: a broker answers it as it did. Where the request would not be the same,
// what may have come of it is removed first.
func (t *Thing) nextLost(f *Facts) Decision {
	r := &t.Record
	switch {
	case r.Operation == Changing:
		return t.retryable(f, t.nextChange(f))
	case r.Operation == Removing: // of a mitigation that was ended by other means
		return t.retryable(f, t.nextMaking(f))
	case t.repeats(f.Ask) || !t.own():
		return t.retryable(f, t.intend(f, Make, true))
	}
	return t.intend(f, Mitigate, false)
}

// nextMitigation removes what is of unknown outcome.
func (t *Thing) nextMitigation(f *Facts) Decision {
	if f.BrokerGone {
		return Decision{Step: Rest, Record: t.Record}
	}
	if t.Record.Async {
		return t.retryable(f, Decision{Step: Poll, Record: t.Record})
	}
	return t.retryable(f, t.intend(f, Mitigate, false))
}

// nextRemoval brings a deletion to its end.
func (t *Thing) nextRemoval(f *Facts) Decision {
	r := &t.Record
	switch {
	case !t.owes() && len(f.Holders) == 0:
		return t.leaves(f, t.left())
	case t.Abandoned:
		return t.leaves(f, "it was abandoned: its broker was not asked to remove it")
	case len(f.Holders) > 0:
		return t.heldBack(f)
	case f.BrokerGone:
		return t.leaves(f, "its broker is not registered any more: it was not asked to remove it")
	case r.Async && r.Operation == Removing:
		return t.retryable(f, Decision{Step: Poll, Record: *r})
	case r.Async && r.Operation == Changing: // only a creation can be overtaken
		return t.retryable(f, Decision{Step: Poll, Record: *r})
	case r.Operation != Removing && !r.Mitigating: // what was tried before is not waited for
		return t.intend(f, Remove, false)
	}
	return t.retryable(f, t.intend(f, Remove, r.Operation == Removing))
}

// left says what stays at the broker of a thing that owes nothing; empty: nothing.
func (t *Thing) left() string {
	if t.Record.Exists || t.Record.InProgress != nil {
		return "its ID at the broker was not made for it: what is there under that ID stays"
	}
	return ""
}

// nextSecret gets the credentials of a binding whose Secret is not there: it fetches
// them, or binds again where they cannot be fetched.
func (t *Thing) nextSecret(f *Facts) Decision {
	if f.Fetchable {
		return Decision{Step: Fetch, Record: t.Record}
	}
	return t.intend(f, Make, true)
}

// nextChange brings a changed spec to the broker, or finds that nothing changed.
func (t *Thing) nextChange(f *Facts) Decision {
	if t.Kind == Binding {
		return Decision{Step: Rest, Record: t.settled(f)}
	}
	changes := t.Changes(f.Ask)
	switch {
	case t.leavesPlan(f.Ask) && !f.Ask.PlanUpdatable:
		return t.stop(f, "PlanNotUpdatable", "the plan cannot be changed: its class or plan says so; put the stored plan back")
	case !changes.Any():
		return Decision{Step: Rest, Record: t.settled(f)}
	}
	return t.retryable(f, t.intend(f, Change, t.Record.Operation == Changing))
}

// leavesPlan says that another plan is asked for than the broker is known to have: the way back
// to that one is open, also where an update of unknown outcome may have left it.
func (t *Thing) leavesPlan(ask *Ask) bool {
	has := t.Record.Accepted
	return has != nil && has.PlanExternalID != ask.PlanExternalID
}
