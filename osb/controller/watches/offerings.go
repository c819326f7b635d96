package watches

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/indexes"
	"github.com/defaultplan/defaultplan/osb/controller/resync"
)

// ByPlan enqueues the instances of a plan that changed, and those of its class
// that may not change their plan, which may be this one.
func ByPlan(reader client.Reader) handler.EventHandler {
	return bitByBit(nil, func(ctx context.Context, plan client.Object) []reconcile.Request {
		var requests []reconcile.Request
		for _, match := range asksForPlan(plan) {
			var instances v1beta1.ServiceInstanceList
			if err := reader.List(ctx, &instances, match, client.InNamespace(plan.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
				log.FromContext(ctx).Error(err, "cannot list the instances of a plan that changed", "plan", plan.GetName())
				return nil
			}
			for i := range instances.Items {
				requests = append(requests, requestFor(&instances.Items[i]))
			}
		}
		return requests
	})
}

// asksForPlan selects the instances that a plan affects.
func asksForPlan(plan client.Object) []client.MatchingFields {
	switch p := plan.(type) {
	case *v1beta1.ClusterServicePlan:
		return []client.MatchingFields{{v1beta1.FieldClusterServicePlanRefName: p.Name}, {indexes.RefusedLeave: indexes.ClassValue(p.Spec.ClusterServiceClassRef.Name, "")}}
	case *v1beta1.ServicePlan:
		return []client.MatchingFields{{v1beta1.FieldServicePlanRefName: p.Name}, {indexes.RefusedLeave: indexes.ClassValue("", p.Spec.ServiceClassRef.Name)}}
	}
	return nil
}

// Changed is told of an object that is reconciled after some time, because its class or plan
// changed.
type Changed func(at client.ObjectKey, after time.Duration)

// InstancesByOffering enqueues the instances of a class or plan that are not
// Ready.
func InstancesByOffering(reader client.Reader, changed Changed) handler.EventHandler {
	return bitByBit(changed, func(ctx context.Context, offering client.Object) []reconcile.Request {
		var requests []reconcile.Request
		for _, o := range withCopies(ctx, reader, offering) {
			instances := listInstances(ctx, reader, o)
			for i := range instances {
				if !isReady(instances[i].Status.Conditions) {
					requests = append(requests, requestFor(&instances[i]))
				}
			}
		}
		return requests
	})
}

// BindingsByOffering enqueues the bindings of a class or plan that are not
// Ready, or whose rotation fails: those that refer to it, which may have no instance yet, and those of
// its instances, which the retired catalog created without references.
func BindingsByOffering(reader client.Reader, changed Changed) handler.EventHandler {
	return bitByBit(changed, func(ctx context.Context, offering client.Object) []reconcile.Request {
		var requests []reconcile.Request
		add := func(options ...client.ListOption) {
			var bindings v1beta1.ServiceBindingList
			if err := reader.List(ctx, &bindings, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
				log.FromContext(ctx).Error(err, "cannot list the bindings of a class or plan that changed", "name", offering.GetName())
				return
			}
			for i := range bindings.Items {
				if status := &bindings.Items[i].Status; !isReady(status.Conditions) || status.Rotation != nil && status.Rotation.Retries > 0 {
					requests = append(requests, requestFor(&bindings.Items[i]))
				}
			}
		}
		for _, o := range withCopies(ctx, reader, offering) {
			add(refersTo(o)...)
			instances := listInstances(ctx, reader, o)
			for i := range instances {
				add(client.MatchingFields{indexes.Instance: client.ObjectKeyFromObject(&instances[i]).String()})
			}
		}
		return requests
	})
}

// bitByBit enqueues the objects that a change affects at the rate of
// resync.PerSecond. The next change does not delay an object that waits, and all
// changes within a second cause at most one pass: a tenant may change its own
// class as often as it likes. The initial list enqueues nothing, because every
// object is reconciled at start anyway. It tells changed of each, if it is not nil.
func bitByBit(changed Changed, find func(context.Context, client.Object) []reconcile.Request) handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	wake := func(ctx context.Context, o client.Object, q queue) {
		woken := map[reconcile.Request]bool{}
		for _, request := range find(ctx, o) {
			if woken[request] {
				continue
			}
			after := time.Duration(1+len(woken)/resync.PerSecond) * time.Second
			if changed != nil {
				changed(request.NamespacedName, after)
			}
			q.AddAfter(request, after)
			woken[request] = true
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			if !e.IsInInitialList {
				wake(ctx, e.Object, q)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) { wake(ctx, e.ObjectNew, q) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { wake(ctx, e.Object, q) },
	}
}

// withCopies are a class or plan and, of a plan of the cluster, its copies: policies take what these
// cost from it.
func withCopies(ctx context.Context, reader client.Reader, offering client.Object) []client.Object {
	all := []client.Object{offering}
	original, is := offering.(*v1beta1.ClusterServicePlan)
	if !is || original.Spec.ClusterServiceBrokerName == "" {
		return all
	}
	broker, match := original.Spec.ClusterServiceBrokerName, client.MatchingFields{v1beta1.FieldExternalID: original.Spec.ExternalID}
	var namespaced v1beta1.ServicePlanList
	var clusters v1beta1.ClusterServicePlanList
	err := errors.Join(
		reader.List(ctx, &namespaced, match, client.UnsafeDisableDeepCopy), reader.List(ctx, &clusters, match, client.UnsafeDisableDeepCopy),
	)
	if err != nil {
		log.FromContext(ctx).Error(err, "cannot list the copies of a plan that changed", "plan", original.Name)
		return all
	}
	for i := range namespaced.Items {
		if p := &namespaced.Items[i]; p.Spec.ClusterServiceBrokerName == broker {
			all = append(all, p)
		}
	}
	for i := range clusters.Items {
		if p := &clusters.Items[i]; p.Spec.ClusterServiceBrokerName == broker && p.Name != original.Name {
			all = append(all, p)
		}
	}
	return all
}

// listInstances lists the instances of a class or plan. They are the cache's own, and not to be written to.
func listInstances(ctx context.Context, reader client.Reader, offering client.Object) []v1beta1.ServiceInstance {
	var instances v1beta1.ServiceInstanceList
	if err := reader.List(ctx, &instances, append(refersTo(offering), client.UnsafeDisableDeepCopy)...); err != nil {
		log.FromContext(ctx).Error(err, "cannot list the instances of a class or plan that changed", "name", offering.GetName())
	}
	return instances.Items
}

// refersTo selects what refers to a class or plan as admission decided.
func refersTo(offering client.Object) []client.ListOption {
	return []client.ListOption{client.InNamespace(offering.GetNamespace()), client.MatchingFields{refersBy(offering): offering.GetName()}}
}

// refersBy is the field of instances and bindings that refers to a class or plan.
func refersBy(offering client.Object) string {
	switch offering.(type) {
	case *v1beta1.ClusterServiceClass:
		return v1beta1.FieldClusterServiceClassRefName
	case *v1beta1.ServiceClass:
		return v1beta1.FieldServiceClassRefName
	case *v1beta1.ClusterServicePlan:
		return v1beta1.FieldClusterServicePlanRefName
	case *v1beta1.ServicePlan:
		return v1beta1.FieldServicePlanRefName
	}
	return ""
}

func isReady(conditions []v1beta1.Condition) bool {
	ready, _ := v1beta1.FindCondition(conditions, v1beta1.ConditionReady)
	return ready.Status == v1beta1.ConditionTrue
}

// requestFor is the request to reconcile an object.
func requestFor(o client.Object) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)}
}

// SpecOrAnnotations passes changes of a plan or class that may affect
// instances: not those of its status.
func SpecOrAnnotations() predicate.Predicate {
	return predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
}

// changesOffering passes changes of a class or plan for which others that are
// not Ready may wait: its flags, the labels and the costs that policies select it by,
// and whether its broker lists it; not the rest of its status.
func changesOffering() predicate.Predicate {
	return predicate.Or[client.Object](
		SpecOrAnnotations(), predicate.LabelChangedPredicate{},
		predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
			was, ok := e.ObjectOld.(v1beta1.OfferingObject)
			is, also := e.ObjectNew.(v1beta1.OfferingObject)
			return ok && also && (was.IsRemoved() != is.IsRemoved() || costsDiffer(was, is))
		}},
	)
}

// costsDiffer says that the status of a plan says other costs than before.
func costsDiffer(before, after v1beta1.OfferingObject) bool {
	was, ok := before.(v1beta1.PlanObject)
	is, also := after.(v1beta1.PlanObject)
	return ok && also && (was.GetStatus().MalformedCosts != is.GetStatus().MalformedCosts || !slices.Equal(was.GetStatus().Costs, is.GetStatus().Costs))
}
