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
	// gone says that the broker is not registered any more: how it did is of no use.
	gone bool
	// operations are those that were answered 429 or 503 last.
	operations map[Operation]*breaker
	// taken counts the places that are taken by the namespaces of their objects.
	taken map[string]int
	// alarm looks whether a call may be made, after a pause or beside a trial.
	alarm *time.Timer
}

// of is the breaker of an operation, or one that has counted nothing.
func (l *line) of(operation Operation) *breaker {
	if b := l.operations[operation]; b != nil {
		return b
	}
	return &breaker{}
}

// judge changes the breaker of the operation for which a place was taken, and keeps it as long
// as it has something to count.
func (l *line) judge(p *place, change func(*breaker)) {
	b := l.of(p.operation)
	change(b)
	if *b == (breaker{}) || l.gone || p.operation == (Operation{}) {
		delete(l.operations, p.operation)
		return
	}
	l.operations[p.operation] = b
}

// due is when it is to be looked next at a line where nothing happens; zero: not by itself.
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

// forget drops what was counted of operations and is of no use any more.
func (l *line) forget(now time.Time) {
	maps.DeleteFunc(l.operations, func(_ Operation, b *breaker) bool { return !b.forgotten().After(now) })
}
