package keeper

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// wake enqueues everyone who waits for what one object is, in any of the versions
// given; each once.
func (t *toucher) wake(ctx context.Context, q queue[waiter], versions ...client.Object) {
	s := scopeOf(t.options.Client, versions[0])
	var keys []key
	for _, object := range versions {
		found, err := s.wakes(ctx, object)
		if err != nil {
			t.missed(ctx, q, err)
			return
		}
		keys = append(keys, found...)
	}
	if err := t.wakeWaiting(ctx, q, s, keys); err != nil {
		t.missed(ctx, q, err)
	}
}

// wakeEveryone makes up for wakes that failed.
func (t *toucher) wakeEveryone(ctx context.Context) error {
	err := t.wakeWaiting(ctx, t.queue, scope{reader: t.options.Client}, []key{everyInstance, everyBinding})
	if err != nil && ctx.Err() == nil {
		t.notWoken(err)
	}
	return err
}

func (t *toucher) wakeWaiting(ctx context.Context, q queue[waiter], s scope, keys []key) error {
	woken := map[waiter]bool{}
	for _, k := range distinct(keys) {
		waiting, err := s.waiting(ctx, k)
		if err != nil {
			return err
		}
		for _, w := range waiting {
			if !woken[w] {
				woken[w] = true
				t.enqueue(q, w)
			}
		}
	}
	return nil
}

// missed has everyone woken in a moment, because the cache could not be read for
// some. However many changes were missed, that is one item in the queue.
func (t *toucher) missed(ctx context.Context, q queue[waiter], err error) {
	if ctx.Err() != nil {
		return
	}
	t.notWoken(err)
	q.AddRateLimited(everyone)
}

func (t *toucher) notWoken(err error) {
	t.options.Log.Error(err, "some who wait were not woken: all are, as soon as the cache can be read")
}
