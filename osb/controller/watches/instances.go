package watches

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/dependents"
	"github.com/defaultplan/defaultplan/osb/controller/indexes"
)

// ByInstance enqueues the bindings of an instance that changed.
func ByInstance(reader client.Reader) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, instance client.Object) []reconcile.Request {
		var bindings v1beta1.ServiceBindingList
		match := client.MatchingFields{indexes.Instance: client.ObjectKeyFromObject(instance).String()}
		if err := reader.List(ctx, &bindings, match, client.UnsafeDisableDeepCopy); err != nil {
			log.FromContext(ctx).Error(err, "cannot list the bindings of an instance that changed", "instance", instance.GetName())
			return nil
		}
		requests := make([]reconcile.Request, 0, len(bindings.Items))
		for i := range bindings.Items {
			requests = append(requests, requestFor(&bindings.Items[i]))
		}
		return requests
	})
}

// ReadByBindings passes changes of an instance that its bindings read. Most
// writes of its status report the progress of an operation, and it may have
// thousands of bindings.
func ReadByBindings() predicate.Predicate {
	return predicate.Or[client.Object](
		predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{},
		predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
			before, isInstance := e.ObjectOld.(*v1beta1.ServiceInstance)
			now, isInstanceNow := e.ObjectNew.(*v1beta1.ServiceInstance)
			if !isInstance || !isInstanceNow {
				return true
			}
			// A claim's status reports its instance's state; once the instance
			// is not dedicated any more, others may bind to it.
			_, was := before.DedicatedTo()
			if _, dedicated := now.DedicatedTo(); was || dedicated {
				return true
			}
			return !before.DeletionTimestamp.Equal(now.DeletionTimestamp) || !equality.Semantic.DeepEqual(seenByBindings(before), seenByBindings(now))
		}},
	)
}

// seenByBindings is what bindings read of an instance's status.
func seenByBindings(i *v1beta1.ServiceInstance) v1beta1.ServiceInstanceStatus {
	return v1beta1.ServiceInstanceStatus{
		ProvisionStatus: i.Status.ProvisionStatus, ExternalProperties: i.Status.ExternalProperties, ExternalID: i.Status.ExternalID,
		CurrentOperation: i.Status.CurrentOperation, Unusable: i.Status.Unusable, ControllerName: i.Status.ControllerName,
	}
}

// OfBinding enqueues the instance of a binding that is gone.
func OfBinding() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		binding, ok := o.(*v1beta1.ServiceBinding)
		if !ok {
			return nil
		}
		return []reconcile.Request{{NamespacedName: binding.InstanceKey()}}
	})
}

// Released passes events after which the deletion of an instance may continue: a
// binding that is gone, and one that is unbound and waits for the instance.
func Released() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return true },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, is := e.ObjectOld.(*v1beta1.ServiceBinding)
			after, isStill := e.ObjectNew.(*v1beta1.ServiceBinding)
			return is && isStill && dependents.Keeps(before) && !dependents.Keeps(after)
		},
	}
}
