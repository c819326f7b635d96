package broker

import (
	"context"
	"fmt"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
)

// maxAsked is how many relists may be requested at once. Further requests are
// dropped: the next failure requests one again.
const maxAsked = 64

// brokerWorkers is how many brokers of a kind are handled at once.
const brokerWorkers = 4

// Setup registers the reconcilers of both kinds of brokers. The function
// that it returns requests a relist of a broker's catalog; it never blocks.
func Setup(mgr manager.Manager, options Options, fetches *queue.Queues) (func(Key), error) {
	kinds := map[bool]func() client.Object{
		false: func() client.Object { return &v1beta1.ClusterServiceBroker{} },
		true:  func() client.Object { return &v1beta1.ServiceBroker{} },
	}
	if options.Scope.Restricted() {
		delete(kinds, false)
	}
	held := &heldCatalogs{most: heldInSum}
	reconcilers, asks := map[bool]*reconciler{}, map[bool]chan event.GenericEvent{}
	for namespaced, newBroker := range kinds {
		r := newReconciler(options, newBroker, held)
		reconcilers[namespaced], asks[namespaced] = r, make(chan event.GenericEvent, maxAsked)
		dispatched := queue.NewDispatcher(r, fmt.Sprintf("%T", newBroker()), fetches)
		err := ctrl.NewControllerManagedBy(mgr).
			For(newBroker(), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
			Watches(newBroker(), byDeletion(r)).
			WatchesRawSource(source.Channel(asks[namespaced], &handler.EnqueueRequestForObject{})).
			WatchesRawSource(dispatched.Source()).
			WithOptions(controller.Options{MaxConcurrentReconciles: brokerWorkers, RateLimiter: queue.ErrorPauses()}).
			Complete(dispatched)
		if err != nil {
			return nil, fmt.Errorf("cannot set up the controller of %T: %w", newBroker(), err)
		}
	}
	return func(key Key) {
		namespaced := key.namespaced()
		if reconcilers[namespaced] == nil {
			return
		}
		object := kinds[namespaced]()
		object.SetNamespace(key.Namespace)
		object.SetName(key.Name)
		reconcilers[namespaced].ask(key)
		select {
		case asks[namespaced] <- event.GenericEvent{Object: object}:
		default:
		}
	}, nil
}

// byDeletion ends the relist of a broker that begins to be deleted, or is gone.
func byDeletion(r *reconciler) handler.EventHandler {
	return handler.Funcs{
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			if e.ObjectNew.GetDeletionTimestamp() != nil {
				r.endRelist(e.ObjectNew)
			}
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			r.endRelist(e.Object)
		},
	}
}
