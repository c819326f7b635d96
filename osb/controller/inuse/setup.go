package inuse

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Options are the settings that differ between controllers.
type Options struct {
	// Mine says whether this controller handles the objects of a broker. Every
	// controller handles those of a broker that does not exist: they write the
	// same.
	Mine func(ctx context.Context, target *v1beta1.BrokerTarget, namespace string) (bool, error)
	// Restricted says that the controller looks into some namespaces only.
	Restricted bool
	// Controller has the limits of the controllers.
	Controller controller.Options
}

// Setup adds the controllers to a manager, whose cache finds instances and bindings by the classes and plans they refer to.
func Setup(mgr manager.Manager, o Options) error {
	kinds := namespaced
	if !o.Restricted {
		kinds = slices.Concat(namespaced, clusterScoped)
	}
	for _, kind := range kinds {
		r := &reconciler{kind: kind, client: mgr.GetClient(), live: mgr.GetAPIReader(), clock: clock.RealClock{}, mine: o.Mine}
		err := ctrl.NewControllerManagedBy(mgr).Named(kind.name).
			For(kind.newObject(), builder.WithPredicates(predicate.NewPredicateFuncs(concerned))).
			Watches(&v1beta1.ServiceInstance{}, kind.byUser()).
			Watches(&v1beta1.ServiceBinding{}, kind.byUser()).
			WithOptions(o.Controller).Complete(r)
		if err != nil {
			return fmt.Errorf("cannot set up %s: %w", kind.name, err)
		}
	}
	return nil
}

// concerned says whether the finalizer of an object may have to be added or
// removed: most objects are a broker's own, and need none.
func concerned(o client.Object) bool {
	return userDefined(o) || controllerutil.ContainsFinalizer(o, v1beta1.FinalizerServiceCatalog)
}

// leavePause is the delay after an object stops using a class or plan: many may
// stop at once, and another may start.
const leavePause = time.Second

// byUser enqueues the class or plan that an instance or binding starts or stops
// to refer to. Existing references are found by the passes over classes and
// plans at start.
func (k *kind) byUser() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	request := func(user client.Object) (reconcile.Request, bool) {
		at := client.ObjectKey{Name: k.referred(decidedOn(user))}
		if k.namespaced {
			at.Namespace = user.GetNamespace()
		}
		return reconcile.Request{NamespacedName: at}, at.Name != ""
	}
	enters := func(user client.Object, q queue) {
		if at, is := request(user); is {
			q.Add(at)
		}
	}
	leaves := func(user client.Object, q queue) {
		if at, is := request(user); is {
			q.AddAfter(at, leavePause)
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) {
			if !e.IsInInitialList {
				enters(e.Object, q)
			}
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			if k.referred(decidedOn(e.ObjectOld)) != k.referred(decidedOn(e.ObjectNew)) {
				leaves(e.ObjectOld, q)
				enters(e.ObjectNew, q)
			}
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { leaves(e.Object, q) },
	}
}
