package keeper

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

const (
	// workers touch at the same time: the rate must be reached although each
	// touch waits for two hooks.
	workers = 4
	// firstRetry doubles with each failure up to lastRetry, so that those who
	// wait are served soon after an outage, however long it was.
	firstRetry = 250 * time.Millisecond
	lastRetry  = time.Minute
	// settling is when an object that a touch left undecided is touched again,
	// once: the hook may have answered from a cache that had yet to hear of the
	// change that woke us.
	settling = 2 * time.Second
)

// A toucher touches the instances and bindings that wait, when what they wait
// for changes.
type toucher struct {
	*Keeper

	queue workqueue.TypedRateLimitingInterface[waiter]

	mu sync.Mutex
	// settles says when those who are to be touched a second time are.
	settles map[waiter]time.Time
}

func newToucher(k *Keeper) *toucher {
	return &toucher{
		Keeper: k,
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[waiter](firstRetry, lastRetry),
			workqueue.TypedRateLimitingQueueConfig[waiter]{Clock: k.options.Clock}),
		settles: map[waiter]time.Time{},
	}
}

// run works until ctx ends. When it returns, nothing of it is running.
func (t *toucher) run(ctx context.Context) error {
	defer t.queue.ShutDown()
	end, err := t.watch(ctx)
	if err != nil {
		return err
	}
	defer end()
	var all sync.WaitGroup
	for range workers {
		all.Go(func() { t.work(ctx) })
	}
	<-ctx.Done()
	t.queue.ShutDown()
	all.Wait()
	return nil
}

func (t *toucher) work(ctx context.Context) {
	for {
		w, shutDown := t.queue.Get()
		if shutDown {
			return
		}
		if w == everyone {
			t.wakeEveryone(ctx)
		} else {
			t.process(ctx, w)
		}
		t.queue.Done(w)
	}
}

// enqueue has an object touched because something changed.
func (t *toucher) enqueue(w waiter) {
	t.settled(w)
	t.queue.Add(w)
}

// settled has an object not wait for its second touch any more.
func (t *toucher) settled(w waiter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.settles, w)
}

// untilSettled is how long an object is to wait for its second touch; not at all
// if that is the one it just had.
func (t *toucher) untilSettled(w waiter) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.options.Clock.Now()
	if _, set := t.settles[w]; !set {
		t.settles[w] = now.Add(settling)
	}
	return t.settles[w].Sub(now)
}

// wait takes a token from the bucket. It says whether there was time to.
func (t *toucher) wait(ctx context.Context) bool {
	now := t.options.Clock.Now()
	delay := t.bucket.ReserveN(now, 1).DelayFrom(now)
	if delay == 0 {
		return ctx.Err() == nil
	}
	timer := t.options.Clock.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C():
		return ctx.Err() == nil
	}
}
