package keeper

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// workers touch at the same time: the rate must be reached although each
	// touch waits for two hooks.
	workers = 4
	// firstRetry doubles with each failure up to lastRetry, so that instances
	// are served soon after an outage, however long it was.
	firstRetry = 250 * time.Millisecond
	lastRetry  = time.Minute
	// settling is when an instance that a touch left undecided is touched again,
	// once: the hook may have answered from a cache that had yet to hear of the
	// change that woke us.
	settling = 2 * time.Second
)

// A term is the work between winning the election and losing it.
type term struct {
	*Keeper

	queue workqueue.TypedRateLimitingInterface[client.ObjectKey]

	mu sync.Mutex
	// settles says when the instances that are to be touched a second time are.
	settles map[client.ObjectKey]time.Time
}

func newTerm(k *Keeper) *term {
	return &term{
		Keeper: k,
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[client.ObjectKey](firstRetry, lastRetry),
			workqueue.TypedRateLimitingQueueConfig[client.ObjectKey]{Clock: k.options.Clock}),
		settles: map[client.ObjectKey]time.Time{},
	}
}

// run works until ctx ends. When it returns, nothing of the term is running.
func (t *term) run(ctx context.Context) error {
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

func (t *term) work(ctx context.Context) {
	for {
		instance, shutDown := t.queue.Get()
		if shutDown {
			return
		}
		t.process(ctx, instance)
		t.queue.Done(instance)
	}
}

// enqueue has an instance touched because something changed.
func (t *term) enqueue(instance client.ObjectKey) {
	t.settled(instance)
	t.queue.Add(instance)
}

// settled has an instance not wait for its second touch any more.
func (t *term) settled(instance client.ObjectKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.settles, instance)
}

// untilSettled is how long an instance is to wait for its second touch; not at
// all if that is the one it just had.
func (t *term) untilSettled(instance client.ObjectKey) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.options.Clock.Now()
	if _, set := t.settles[instance]; !set {
		t.settles[instance] = now.Add(settling)
	}
	return t.settles[instance].Sub(now)
}

// wait takes a token from the bucket. It says whether there was time to.
func (t *term) wait(ctx context.Context) bool {
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
