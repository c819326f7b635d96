package certs

import (
	"context"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// An observer watches the named Secrets and the two hook configurations, and repeats a
// round when one of them changes, or when the round asked for it.
type observer struct {
	client                    kubernetes.Interface
	namespace, configurations string
	// secrets are names; an empty one is none.
	secrets []string
	log     logr.Logger
	clock   clock.Clock
	// failure is the message of a round that failed.
	failure string
	// patience is how long informers are waited for before their objects are read otherwise.
	patience time.Duration

	informers sync.WaitGroup
}

// A round reads from a source, does what is due, and says how long to wait for the next
// if nothing changes.
type round func(ctx context.Context, from source) (time.Duration, error)

const (
	// retryFirst and retryMost bound how long a failed round waits for the next.
	retryFirst = 500 * time.Millisecond
	retryMost  = 30 * time.Second
	// conflictPause is about what a change takes to be seen.
	conflictPause = 100 * time.Millisecond
	// syncPatience is more than informers need that may read.
	syncPatience = 10 * time.Second
	// longestPause bounds how long a clock that jumps goes unnoticed.
	longestPause = time.Minute
)

// run repeats the round until ctx ends.
func (o *observer) run(ctx context.Context, do round) error {
	defer o.informers.Wait()
	changes := make(chan struct{}, 1)
	from, synced, err := o.follow(ctx, func() {
		select {
		case changes <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return ignoreEnd(ctx, err)
	}
	o.wait(ctx, synced, do)
	// Another writer that undoes each change of a bundle gets no more answers than this.
	pace := rate.NewLimiter(rate.Every(200*time.Millisecond), 10)
	retry := retryFirst
	for pace.Wait(ctx) == nil {
		pause, err := do(ctx, from)
		if ended(ctx) {
			break
		}
		if err != nil {
			pause, retry = o.failed(err, retry)
		}
		if err == nil {
			retry = retryFirst
		}
		timer := o.clock.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-changes:
			retry = retryFirst // it may have been mended, and was not tried again before
		case <-timer.C():
		}
		timer.Stop()
	}
	return nil
}

// wait returns when the informers have what there is, or ctx ends. As long as they have not,
// as without a right, rounds read from the API server, which says why.
func (o *observer) wait(ctx context.Context, synced []cache.InformerSynced, do round) {
	from := live{client: o.client, namespace: o.namespace, configurations: o.configurations}
	for !ended(ctx) {
		patient, stop := context.WithTimeout(ctx, o.patience)
		is := cache.WaitForCacheSync(patient.Done(), synced...)
		stop()
		if is || ended(ctx) {
			return
		}
		if _, err := do(ctx, from); err != nil && !ended(ctx) {
			o.failed(err, o.patience)
		}
	}
}

// failed logs an error, and says how long to wait now, and after the next. Another
// replica that was faster is none: its write comes as a change.
func (o *observer) failed(err error, retry time.Duration) (now, next time.Duration) {
	if apierrors.IsConflict(err) {
		return conflictPause, retry
	}
	o.log.Error(err, o.failure, "retryAfter", retry.String())
	return retry, min(2*retry, retryMost)
}

// ignoreEnd is err, unless it is that of a process that is told to end.
func ignoreEnd(ctx context.Context, err error) error {
	if ended(ctx) {
		return nil
	}
	return err
}

func ended(ctx context.Context) bool { return ctx.Err() != nil }
