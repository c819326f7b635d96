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
	// place is the one it has, or nil.
	place   *place
	entered chan struct{}
}

// A place is the right to call one broker.
type place struct {
	line *line
	// of is the namespace of the object that it was taken for.
	of string
	// trial says that its next call is a trial.
	trial bool
}

// Enter takes a place for calls to a broker, if one is free and nothing waits that could
// have it; a place of another broker is given back. The place is held until the pass ends.
func (p *Pass) Enter(broker Broker) bool {
	if p == nil {
		return true
	}
	q := p.queues
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if p.place != nil && p.place.line.broker == broker {
		return true
	}
	if p.place != nil {
		p.giveBack()
		q.serve()
	}
	l := q.line(broker)
	if !q.free(l, p.entry.item.Namespace) {
		q.tidy(l)
		return false
	}
	p.place = q.take(l, p.entry.item.Namespace)
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

// Held says that a broker has a pause, and that the pass has no place for it.
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

// Called is told what came of a call, for which the pass has a place. Only an *osb.Error
// is the broker's doing.
func (p *Pass) Called(err error) {
	if p == nil {
		return
	}
	q := p.queues
	q.mutex.Lock()
	defer q.mutex.Unlock()
	l := p.place.line
	l.ended(err, p.place.trial, time.Now(), q.jitter())
	p.place.trial = false
	if l.until.IsZero() {
		q.serve()
	} else {
		q.setAlarm(l)
	}
}

// End ends the pass. It is resumed when it is its turn to call the broker that it waits
// for; nil: it waits for none. Another pass was asked for if again is true.
func (p *Pass) End(waitsFor *Broker) (again bool) {
	q, e := p.queues, p.entry
	q.mutex.Lock()
	defer q.mutex.Unlock()
	p.giveBack()
	again, e.again, e.busy = e.again, false, false
	if waitsFor != nil {
		q.wait(e, q.line(*waitsFor))
	} else {
		q.leave(e)
		delete(q.items, e.item)
	}
	q.serve()
	return again
}

// giveBack gives the place back that it has.
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
