package world

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
)

// A queue holds a controller's work items in virtual time. What failed waits for the next
// write of anything: without one, it would fail the same way again.
type queue[R comparable] struct {
	clock  clock.PassiveClock
	order  workqueue.Queue[R]
	ready  map[R]bool
	later  map[R]time.Time
	failed map[R]error
}

var _ controller.Queue[int] = (*queue[int])(nil)

func newQueue[R comparable](now clock.PassiveClock, order workqueue.Queue[R]) *queue[R] {
	if order == nil {
		order = workqueue.DefaultQueue[R]()
	}
	return &queue[R]{clock: now, order: order, ready: map[R]bool{}, later: map[R]time.Time{}, failed: map[R]error{}}
}

// Add makes an item ready.
func (q *queue[R]) Add(item R) {
	delete(q.later, item)
	delete(q.failed, item)
	if q.ready[item] {
		q.order.Touch(item)
		return
	}
	q.ready[item] = true
	q.order.Push(item)
}

// AddAfter makes an item ready after a time.
func (q *queue[R]) AddAfter(item R, after time.Duration) {
	if after <= 0 {
		q.Add(item)
		return
	}
	due := q.clock.Now().Add(after)
	if known, is := q.later[item]; !is || due.Before(known) {
		q.later[item] = due
	}
}

// AddRateLimited makes an item ready a while after it failed.
func (q *queue[R]) AddRateLimited(item R) { q.AddAfter(item, time.Second) }

// Len is how many items are ready.
func (q *queue[R]) Len() int { return q.order.Len() }

// Get takes the next item that is ready.
func (q *queue[R]) Get() (item R, shutdown bool) {
	item = q.order.Pop()
	delete(q.ready, item)
	return item, false
}

// due makes ready what is due by now, and says when the next item is.
func (q *queue[R]) due() (next time.Time, is bool) {
	now := q.clock.Now()
	for item, at := range q.later {
		switch {
		case !at.After(now):
			q.Add(item)
		case !is || at.Before(next):
			next, is = at, true
		}
	}
	return next, is
}

// retry makes ready what failed.
func (q *queue[R]) retry() (some bool) {
	for item := range q.failed {
		q.Add(item)
		some = true
	}
	return some
}

// Done, Forget and the others are for queues that goroutines share.
func (*queue[R]) Done(R) {}

// Forget forgets failures, which are not counted.
func (*queue[R]) Forget(R) {}

// NumRequeues is none: failures are not counted.
func (*queue[R]) NumRequeues(R) int { return 0 }

// ShutDown does nothing.
func (*queue[R]) ShutDown() {}

// ShutDownWithDrain does nothing.
func (*queue[R]) ShutDownWithDrain() {}

// ShuttingDown is never so.
func (*queue[R]) ShuttingDown() bool { return false }
