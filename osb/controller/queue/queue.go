package queue

import (
	"container/list"
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// A Broker names a broker; the namespace of a ClusterServiceBroker is empty.
type Broker = types.NamespacedName

// An Item is an object with at most one pass at a time.
type Item struct {
	Kind string
	types.NamespacedName
}

// An Operation is the kind of a call for resources of one plan. Responses 429
// and 503 are counted per operation: a broker may reject one plan for an hour
// and serve the others, or provision no more of a plan and still deprovision.
type Operation struct{ Class, Plan, Name string }

// Limits bound how many calls run at once. All must be 1 or more.
type Limits struct {
	// Calls is how many there are in all, and PerBroker how many of one broker.
	Calls, PerBroker int
	// PerNamespace is how many there are of all brokers of one namespace, and Namespaced of
	// all brokers of all namespaces.
	PerNamespace, Namespaced int
}

// Queues are the queues of all brokers.
type Queues struct {
	limits Limits
	// jitter spreads the ends of pauses; it is from 0 to 1.
	jitter func() float64

	mutex sync.Mutex
	items map[Item]*entry
	known map[Broker]*line
	// waits are the lines in which something waits; the next one that is served comes first.
	waits []*line
	// running counts the places that are taken, and ofNamespace those at the brokers of each
	// namespace; those at ClusterServiceBrokers are under the empty one.
	running     int
	ofNamespace map[string]int
	// places is done when none is taken, and closed keeps further ones from being taken.
	places sync.WaitGroup
	closed bool
}

// New returns empty queues.
func New(limits Limits) *Queues {
	return &Queues{
		limits: limits, jitter: rand.Float64,
		items: map[Item]*entry{}, known: map[Broker]*line{}, ofNamespace: map[string]int{},
	}
}

// An entry is an item with a running pass, that waits, or has memory.
type entry struct {
	item Item
	// busy says that a pass runs, and again that another one was requested
	// meanwhile.
	busy, again bool
	// line is where it waits, or nil, operation what for, and place is its place there. The
	// lower its number, the longer it waits.
	line      *line
	operation Operation
	place     *list.Element
	number    uint64
	resume    func(*Pass)
	// memory is stored by passes over the item; nil: none.
	memory any
	// look is called when the pause that it waits for lasts, or nil.
	look func()
}

func (e *entry) tell() {
	if e.look != nil {
		e.look()
	}
}

// Begin starts a pass over an item. If it ends and waits, resume is called
// later, in its own goroutine, with another pass that has a place. While a pass
// over the item runs no other starts: its End says that one was requested.
func (q *Queues) Begin(item Item, resume func(*Pass)) (pass *Pass, begun bool) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	e := q.items[item]
	if e == nil {
		e = &entry{item: item}
		q.items[item] = e
	}
	if e.busy {
		e.again = true
		return nil, false
	}
	e.busy, e.resume = true, resume
	return &Pass{queues: q, entry: e, entered: make(chan struct{})}, true
}

// Start keeps queues open until the context ends, and returns when no call runs any more.
func (q *Queues) Start(ctx context.Context) error {
	<-ctx.Done()
	q.mutex.Lock()
	q.closed = true
	q.mutex.Unlock()
	q.places.Wait()
	return nil
}

// Answered records a sign of life of a broker outside of calls: what waits
// continues.
func (q *Queues) Answered(broker Broker) { q.freshen(broker, false) }

// Gone records that a broker is not registered any more: what waits continues
// and finds out, and its state is dropped once the running calls end.
func (q *Queues) Gone(broker Broker) { q.freshen(broker, true) }

func (q *Queues) freshen(broker Broker, gone bool) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if l := q.known[broker]; l != nil {
		l.breaker, l.gone = breaker{}, gone
		if gone {
			clear(l.operations)
		}
		q.tidy(l)
		q.serve()
	}
}

// Waiting is how many objects wait for a broker.
func (q *Queues) Waiting(broker Broker) int {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	count := 0
	if l := q.known[broker]; l != nil {
		l.each(func(*entry) { count++ })
	}
	return count
}

func (q *Queues) line(broker Broker) *line {
	if q.known[broker] == nil {
		q.known[broker] = &line{broker: broker, taken: map[string]int{}, operations: map[Operation]*refusals{}}
	}
	return q.known[broker]
}

// tidy removes a line without state.
func (q *Queues) tidy(l *line) {
	if l.running > 0 || !l.empty() || !l.gone && (l.breaker != (breaker{}) || len(l.operations) > 0) {
		return
	}
	if l.alarm != nil {
		l.alarm.Stop()
	}
	delete(q.known, l.broker)
}

// free says whether a call for an object of a namespace may start now.
func (q *Queues) free(l *line, namespace string, operation Operation) bool {
	now, other := time.Now(), l.taken[namespace] == 0
	if !q.room(l) || q.sated(l, namespace) || !l.open(now, other) {
		return false
	}
	switch r := l.of(operation); {
	case r.until.IsZero() || r.trials[namespace] == 0:
		return true
	case !r.open(now, other):
		return false
	}
	return l.first(namespace, operation, func(namespace string) bool { return !q.sated(l, namespace) })
}

// sated says whether the objects of a namespace have all the places at a broker
// that they may have: three quarters, even if no other namespace waits, because
// hanging calls are not cancelled for a later one. A ServiceBroker is only used
// by its own namespace, which may have all places.
func (q *Queues) sated(l *line, namespace string) bool {
	const share, of = 3, 4
	return namespace != l.broker.Namespace && l.taken[namespace]*of >= q.limits.PerBroker*share
}

// room says whether some call of a line may start now.
func (q *Queues) room(l *line) bool {
	if q.closed || q.running >= q.limits.Calls || l.running >= q.limits.PerBroker || l.until.After(time.Now()) {
		return false
	}
	namespace := l.broker.Namespace
	return namespace == "" || q.namespaced() < q.limits.Namespaced && q.ofNamespace[namespace] < q.limits.PerNamespace
}

// namespaced is how many places are taken at the brokers of all namespaces.
func (q *Queues) namespaced() int { return q.running - q.ofNamespace[""] }

// take takes a place that is free for an object of a namespace.
func (q *Queues) take(l *line, of string, operation Operation) *place {
	q.places.Add(1)
	q.count(l, of, 1)
	now := time.Now()
	r := l.of(operation)
	p := &place{line: l, of: of, operation: operation, trial: l.begin(now), tries: r.begin(now)}
	if p.tries {
		r.trials[of]++
	}
	if p.trial || p.tries {
		q.setAlarm(l)
	}
	return p
}

func (q *Queues) count(l *line, of string, by int) {
	l.running += by
	if l.taken[of] += by; l.taken[of] == 0 {
		delete(l.taken, of)
	}
	q.running += by
	namespace := l.broker.Namespace
	if q.ofNamespace[namespace] += by; q.ofNamespace[namespace] == 0 {
		delete(q.ofNamespace, namespace)
	}
}

// release frees a place.
func (q *Queues) release(p *place) {
	p.line.idle(p.trial)
	if p.tries { // it came to no call
		r := p.line.of(p.operation)
		r.idle(true)
		r.trials[p.of] = max(r.trials[p.of]-1, 0)
	}
	q.count(p.line, p.of, -1)
	q.tidy(p.line)
	q.places.Done()
}

// wait lets an entry wait in a line; it keeps the place that it has there.
func (q *Queues) wait(e *entry, l *line, operation Operation) {
	if e.line == l && e.operation == operation {
		return
	}
	since := uint64(0)
	if e.line == l {
		since = e.number
	}
	q.leave(e)
	q.known[l.broker] = l // it was forgotten if this was all that there was of it
	if l.empty() {
		q.waits = append(q.waits, l)
	}
	e.line, e.operation = l, operation
	l.add(e, since)
	q.setAlarm(l)
}

// leave removes an entry from its line.
func (q *Queues) leave(e *entry) {
	l := e.line
	if l == nil {
		return
	}
	e.line = nil
	l.remove(e)
	if !l.empty() {
		return
	}
	for i := range q.waits {
		if q.waits[i] == l {
			q.waits = append(q.waits[:i:i], q.waits[i+1:]...)
			break
		}
	}
	q.tidy(l)
}

// serve assigns free places to what waits: brokers take turns.
func (q *Queues) serve() {
	for i := 0; i < len(q.waits); {
		l := q.waits[i]
		if !q.serveOne(l) {
			i++
			continue
		}
		if i < len(q.waits) && q.waits[i] == l {
			q.waits = append(append(q.waits[:i:i], q.waits[i+1:]...), l)
		}
	}
}

// serveOne starts the pass whose turn it is in a line, if a place is free.
func (q *Queues) serveOne(l *line) bool {
	if !q.room(l) {
		return false
	}
	e := l.next(func(namespace string, operation Operation) bool { return q.free(l, namespace, operation) })
	if e == nil {
		return false
	}
	p := &Pass{
		queues: q, entry: e, operation: e.operation, entered: make(chan struct{}),
		place: q.take(l, e.item.Namespace, e.operation),
	}
	close(p.entered)
	e.busy = true
	q.leave(e)
	l.served(e.item.Namespace)
	go e.resume(p)
	return true
}

// setAlarm schedules the next check of what waits, after a pause or a long
// trial, and drops expired state.
func (q *Queues) setAlarm(l *line) {
	if l.alarm != nil {
		l.alarm.Stop()
	}
	now := time.Now()
	at := l.due(now)
	if at.IsZero() {
		return
	}
	l.alarm = time.AfterFunc(at.Sub(now), func() {
		q.mutex.Lock()
		defer q.mutex.Unlock()
		if q.known[l.broker] != l {
			return // it ended while this waited for the lock
		}
		l.forget(time.Now())
		q.serve()
		q.setAlarm(l)
		q.tidy(l)
	})
}
