package controller

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
)

// byPlan brings a pass over the instances of a plan that changed.
func byPlan(reader client.Reader) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, plan client.Object) []reconcile.Request {
		options := []client.ListOption{client.MatchingFields{v1beta1.FieldClusterServicePlanRefName: plan.GetName()}, client.UnsafeDisableDeepCopy}
		if plan.GetNamespace() != "" {
			options[0] = client.MatchingFields{v1beta1.FieldServicePlanRefName: plan.GetName()}
			options = append(options, client.InNamespace(plan.GetNamespace()))
		}
		var instances v1beta1.ServiceInstanceList
		if err := reader.List(ctx, &instances, options...); err != nil {
			log.FromContext(ctx).Error(err, "cannot list the instances of a plan that changed", "plan", plan.GetName())
			return nil
		}
		requests := make([]reconcile.Request, 0, len(instances.Items))
		for i := range instances.Items {
			requests = append(requests, requestFor(&instances.Items[i]))
		}
		return requests
	})
}

// byInstance brings a pass over the bindings of an instance that changed.
func byInstance(reader client.Reader) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, instance client.Object) []reconcile.Request {
		var bindings v1beta1.ServiceBindingList
		match := client.MatchingFields{indexInstance: client.ObjectKeyFromObject(instance).String()}
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

// readByBindings lets pass of an instance's changes those of what its bindings read. Most writes of its status tell how
// an operation is going, and it may have thousands of bindings.
func readByBindings() predicate.Predicate {
	return predicate.Or[client.Object](
		predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{},
		predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
			before, isInstance := e.ObjectOld.(*v1beta1.ServiceInstance)
			now, isInstanceNow := e.ObjectNew.(*v1beta1.ServiceInstance)
			if !isInstance || !isInstanceNow {
				return true
			}
			// A claim's status tells what its instance's does; once it is no claim's any more, others may bind to it.
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

// ofBinding brings a pass over the instance of a binding that is gone.
func ofBinding() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		binding, ok := o.(*v1beta1.ServiceBinding)
		if !ok {
			return nil
		}
		return []reconcile.Request{{NamespacedName: binding.InstanceKey()}}
	})
}

func requestFor(o client.Object) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)}
}

// specOrAnnotations lets pass what a plan's or class's change may mean to instances:
// not that its status changed.
func specOrAnnotations() predicate.Predicate {
	return predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
}
