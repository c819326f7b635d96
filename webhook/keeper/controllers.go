package keeper

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// A queue holds what a controller is to do.
type queue[R comparable] = workqueue.TypedRateLimitingInterface[R]

// A controllerSpec is what a controller does, and what it watches.
type controllerSpec[R comparable] struct {
	name    string
	workers int
	// limiter says when what failed is tried again; none is needed where that is no error.
	limiter workqueue.TypedRateLimiter[R]
	// order is who of those in the queue is next: nil if the first to come is.
	order workqueue.Queue[R]
	// begin is given the queue before anything is done.
	begin   func(queue[R])
	do      func(context.Context, R) (reconcile.Result, error)
	watches []watched[R]
}

// A watched kind is one that a controller watches: which of its events, and what they enqueue.
type watched[R comparable] struct {
	object  client.Object
	when    predicate.Predicate
	enqueue func(ctx context.Context, q queue[R], versions ...client.Object)
}

// add adds the controller to a manager, to be run while that leads.
func (d *controllerSpec[R]) add(mgr manager.Manager, k *Keeper) error {
	b := builder.TypedControllerManagedBy[R](mgr).Named("keeper-" + d.name).
		WithOptions(controller.TypedOptions[R]{
			MaxConcurrentReconciles: d.workers, RateLimiter: d.limiter, NewQueue: newQueue(k.options.QueueMetrics, d.order),
			// The keeper says itself what failed: what others answered may quote objects. A
			// panic would be no error of that kind.
			LogConstructor: func(*R) logr.Logger { return logr.Discard() }, RecoverPanic: new(false),
		}).
		WatchesRawSource(source.TypedFunc[R](func(_ context.Context, q queue[R]) error {
			d.begin(q)
			return nil
		}))
	for _, h := range d.watches {
		b.Watches(h.object, handled(h.enqueue), builder.WithPredicates(h.when))
	}
	if err := b.Complete(reconcile.TypedFunc[R](d.do)); err != nil {
		return fmt.Errorf("cannot add the %s: %w", d.name, err)
	}
	return nil
}

// newQueue makes a controller's queue, of that order. Without a name it has no metrics.
func newQueue[R comparable](counted bool, order workqueue.Queue[R]) func(string, workqueue.TypedRateLimiter[R]) queue[R] {
	return func(name string, limiter workqueue.TypedRateLimiter[R]) queue[R] {
		if !counted {
			name = ""
		}
		return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[R]{
			DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[R]{
				Name: name, Queue: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[R]{Name: name, Queue: order}),
			}),
		})
	}
}

// handled enqueues by the versions of the object that an event is about: of an update both. Who
// waited for what an object was may be served by its not being that any more: of two
// defaults, one is left.
func handled[R comparable](enqueue func(context.Context, queue[R], ...client.Object)) handler.TypedEventHandler[client.Object, R] {
	return handler.TypedFuncs[client.Object, R]{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue[R]) { enqueue(ctx, q, e.Object) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue[R]) { enqueue(ctx, q, e.ObjectOld, e.ObjectNew) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue[R]) { enqueue(ctx, q, e.Object) },
	}
}

// changes are of what happens to objects after the listening began, but for updates in
// which nothing changed that a choice depends on.
var changes = predicate.Funcs{
	CreateFunc: func(e event.CreateEvent) bool { return !e.IsInInitialList },
	UpdateFunc: func(e event.UpdateEvent) bool { return !alike(e.ObjectOld, e.ObjectNew) },
}

func never[E any](E) bool { return false }
