package controller

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

// A Queue holds a controller's work items.
type Queue[R comparable] = workqueue.TypedRateLimitingInterface[R]

// A Spec declares a controller: its reconciler, its queue and its watches.
type Spec[R comparable] struct {
	Name    string
	Workers int
	// Limiter rate-limits retries; a controller whose reconciler never returns
	// an error needs none.
	Limiter workqueue.TypedRateLimiter[R]
	// Order is the order of the queue; nil is first in, first out.
	Order workqueue.Queue[R]
	// Begin gets the queue before the first reconcile.
	Begin   func(Queue[R])
	Do      func(context.Context, R) (reconcile.Result, error)
	Watches []Watch[R]
}

// A Watch is a kind that a controller watches: which of its events, and what they enqueue.
type Watch[R comparable] struct {
	Object  client.Object
	When    predicate.Predicate
	Enqueue func(ctx context.Context, q Queue[R], versions ...client.Object)
}

// AddTo adds the controller to a manager, to be run while that leads.
func (d *Spec[R]) AddTo(mgr manager.Manager, queueMetrics bool) error {
	b := builder.TypedControllerManagedBy[R](mgr).Named("keeper-" + d.Name).
		WithOptions(controller.TypedOptions[R]{
			MaxConcurrentReconciles: d.Workers, RateLimiter: d.Limiter, NewQueue: newQueue(queueMetrics, d.Order),
			// The keeper logs failures itself, because errors of other hooks
			// may quote objects. A panic is not recovered.
			LogConstructor: func(*R) logr.Logger { return logr.Discard() }, RecoverPanic: new(false),
		}).
		WatchesRawSource(source.TypedFunc[R](func(_ context.Context, q Queue[R]) error {
			d.Begin(q)
			return nil
		}))
	for _, h := range d.Watches {
		b.Watches(h.Object, handled(h.Enqueue), builder.WithPredicates(h.When))
	}
	if err := b.Complete(reconcile.TypedFunc[R](d.Do)); err != nil {
		return fmt.Errorf("cannot add the %s: %w", d.Name, err)
	}
	return nil
}

// newQueue creates a controller's queue with that order. Without a name it has
// no metrics.
func newQueue[R comparable](counted bool, order workqueue.Queue[R]) func(string, workqueue.TypedRateLimiter[R]) Queue[R] {
	return func(name string, limiter workqueue.TypedRateLimiter[R]) Queue[R] {
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

// handled enqueues by the versions of an event's object, both for an update. An
// object may also wait for another to lose a property: of two defaults, one is
// left.
func handled[R comparable](enqueue func(context.Context, Queue[R], ...client.Object)) handler.TypedEventHandler[client.Object, R] {
	return handler.TypedFuncs[client.Object, R]{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q Queue[R]) { enqueue(ctx, q, e.Object) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q Queue[R]) { enqueue(ctx, q, e.ObjectOld, e.ObjectNew) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q Queue[R]) { enqueue(ctx, q, e.Object) },
	}
}

// Changes passes events after the initial list, except updates that are
// irrelevant to every choice.
var Changes = predicate.Funcs{
	CreateFunc: func(e event.CreateEvent) bool { return !e.IsInInitialList },
	UpdateFunc: func(e event.UpdateEvent) bool { return !alike(e.ObjectOld, e.ObjectNew) },
}

// Never is the predicate that no event passes.
func Never[E any](E) bool { return false }
