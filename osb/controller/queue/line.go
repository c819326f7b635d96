package queue

import (
	"cmp"
	"maps"
	"time"
)

// A line is the queue of one broker.
type line struct {
	breaker
	waiting

	broker  Broker
	running int
	// gone says that the broker is not registered any more, so its state is
	// useless.
	gone bool
	// operations are those whose last response was 429 or 503.
	operations map[Operation]*refusals
	// taken counts the places that are taken by the namespaces of their objects.
	taken map[string]int
	// alarm checks whether a call may be made, after a pause or as a second
	// trial.
	alarm *time.Timer
}

// refusals count the responses 429 and 503 to one operation.
type refusals struct {
	breaker

	// trials are how often namespaces were refused or tried since the operation last went well.
	trials map[string]int
}

// of are the refusals of an operation, or of none.
func (l *line) of(operation Operation) *refusals {
	if r := l.operations[operation]; r != nil {
		return r
	}
	return &refusals{trials: map[string]int{}}
}

// pausedFor says whether an operation is paused for the objects of a namespace.
// A namespace that did not get a 429 or 503 itself makes a trial at once,
// because the others may have caused theirs.
func (r *refusals) pausedFor(namespace string, now time.Time) bool {
	return r.paused(now) && r.trials[namespace] > 0
}

// count changes the refusals of the operation for which a place was taken, and keeps them as long
// as there is something to count.
func (l *line) count(p *place, change func(*refusals)) {
	r := l.of(p.operation)
	change(r)
	if r.breaker == (breaker{}) || l.gone || p.operation == (Operation{}) {
		delete(l.operations, p.operation)
		return
	}
	l.operations[p.operation] = r
}

// first says whether no other namespace that may continue and waits for a trial
// of an operation had fewer trials.
func (l *line) first(namespace string, operation Operation, mayGoOn func(namespace string) bool) bool {
	trials := l.of(operation).trials
	for other, of := range l.waiting.of {
		if trials[other] < trials[namespace] && of[operation] != nil && idle(of[operation]) != nil && mayGoOn(other) {
			return false
		}
	}
	return true
}

// due is when to check an idle line again; zero: not by itself.
func (l *line) due(now time.Time) time.Time {
	at := l.looks(now)
	for _, b := range l.operations {
		next := cmp.Or(b.looks(now), b.forgotten())
		if at.IsZero() || next.Before(at) {
			at = next
		}
	}
	return at
}

// forget drops expired counts of operations.
func (l *line) forget(now time.Time) {
	maps.DeleteFunc(l.operations, func(_ Operation, r *refusals) bool { return !r.forgotten().After(now) })
}
