package queue

import (
	"context"
	"time"
)

// A Pass is one pass over an item. It is used by one goroutine. A nil Pass is one that
// needs no place: its calls are neither limited nor counted.
type Pass struct {
	queues *Queues
	entry  *entry
	// operation is what its calls do.
	operation Operation
	// place is the one it has, or nil.
	place   *place
	entered chan struct{}
}

// A place is the right to call one broker.
type place struct {
	line *line
	// of is the namespace of the object that it was taken for, and operation what for.
	of        string
	operation Operation
	// trial says that its next call is a trial of the broker, and tries that it is one of
	// the operation.
	trial, tries bool
}

// For says what the calls of the pass do from now on; not said, 429 and 503 are not counted.
func (p *Pass) For(operation Operation) {
	if p != nil {
		p.operation = operation
	}
}

// Memory is the memory that an earlier pass stored for the item, or nil.
func (p *Pass) Memory() any {
	if p == nil {
		return nil
	}
	return p.entry.memory
}

// Remember stores memory for later passes over the item; nil: it is dropped.
func (p *Pass) Remember(memory any) {
	if p != nil {
		p.entry.memory = memory
	}
}

// OnPause sets look, which is called with the queues locked when the pause that
// the item waits for lasts: another pass, which has no place, can report it.
func (p *Pass) OnPause(look func()) {
	p.queues.mutex.Lock()
	defer p.queues.mutex.Unlock()
	p.entry.look = look
}

// Enter takes a place for calls to a broker, if one is free and no other item
// that waits could have it; a place for another broker is released. The place
// is held until the pass ends.
func (p *Pass) Enter(broker Broker) bool {
	if p == nil {
		return true
	}
	q := p.queues
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if p.has(q.known[broker]) {
		return true
	}
	if p.place != nil {
		p.giveBack()
		defer q.serve() // not before: where it comes to another operation, its turn is not over
	}
	l := q.line(broker)
	if !q.free(l, p.entry.item.Namespace, p.operation) {
		q.tidy(l)
		return false
	}
	p.place = q.take(l, p.entry.item.Namespace, p.operation)
	q.leave(p.entry)
	select {
	case <-p.entered:
	default:
		close(p.entered)
	}
	return true
}

// Entered is closed once the pass has had a place: it may take as long as a call from then
// on.
func (p *Pass) Entered() <-chan struct{} { return p.entered }

// Held says whether a broker is paused, and the pass has no place for it.
func (p *Pass) Held(broker Broker) bool {
	if p == nil {
		return false
	}
	q := p.queues
	q.mutex.Lock()
	defer q.mutex.Unlock()
	l := q.known[broker]
	return l != nil && l.paused(time.Now()) && (p.place == nil || p.place.line != l)
}

// Refused says that the operation has a pause at a broker for the namespace of the pass, because
// the broker answered 429 or 503, and that the pass has no place for it.
func (p *Pass) Refused(broker Broker) bool {
	if p == nil {
		return false
	}
	q := p.queues
	q.mutex.Lock()
	defer q.mutex.Unlock()
	l := q.known[broker]
	return l != nil && l.of(p.operation).pausedFor(p.entry.item.Namespace, time.Now()) && !p.has(l)
}

// has says that the pass has a place in a line, for what it is to do there.
func (p *Pass) has(l *line) bool {
	return p.place != nil && p.place.line == l && p.place.operation == p.operation
}

// Called records the result of a call, for which the pass has a place. Only an
// *osb.Error is the broker's.
func (p *Pass) Called(err error) {
	if p == nil {
		return
	}
	q := p.queues
	q.mutex.Lock()
	defer q.mutex.Unlock()
	l, now, operation := p.place.line, time.Now(), p.place.operation
	pauses, pausesOf := l.pauses, l.of(operation).pauses
	l.ended(ofBroker(err), p.place.trial, now, q.jitter())
	l.count(p.place, func(r *refusals) {
		came := ofOperation(err)
		if came.result == bad && !p.place.tries {
			r.trials[p.place.of] = max(r.trials[p.place.of], 1)
		}
		r.ended(came, p.place.tries, now, q.jitter())
	})
	p.place.trial, p.place.tries = false, false
	switch {
	case pauses < lasting && l.pauses == lasting:
		l.each(func(e *entry) { e.tell() })
	case pausesOf < lasting && l.of(operation).pauses == lasting:
		l.each(func(e *entry) {
			if e.operation == operation {
				e.tell()
			}
		})
	}
	q.serve()
	q.setAlarm(l)
}

// End ends the pass. It is resumed when it is its turn to call the broker that
// it waits for; nil: it waits for none. again says that another pass was
// requested.
func (p *Pass) End(waitsFor *Broker) (again bool) {
	q, e := p.queues, p.entry
	q.mutex.Lock()
	defer q.mutex.Unlock()
	p.giveBack()
	again, e.again, e.busy = e.again, false, false
	if waitsFor != nil {
		q.wait(e, q.line(*waitsFor), p.operation)
	} else {
		q.leave(e)
		if e.memory == nil {
			delete(q.items, e.item)
		}
	}
	q.serve()
	return again
}

// giveBack releases its place.
func (p *Pass) giveBack() {
	if p.place != nil {
		p.queues.release(p.place)
		p.place = nil
	}
}

type contextKey struct{}

// NewContext is a context with a pass in it.
func NewContext(ctx context.Context, p *Pass) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// FromContext is the pass of a context, or nil.
func FromContext(ctx context.Context) *Pass {
	p, _ := ctx.Value(contextKey{}).(*Pass)
	return p
}
