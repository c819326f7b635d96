package watches

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/policies"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// indexPolicy finds the instances, and the bindings, that are kept from their brokers by policies, by the reason: they wait
// for a slot, or are denied. It is the cache's own.
const indexPolicy = "defaultplan/kept-by-policies"

func keptByPolicies(o client.Object) []string {
	var conditions []v1beta1.Condition
	switch o := o.(type) {
	case *v1beta1.ServiceInstance:
		conditions = o.Status.Conditions
	case *v1beta1.ServiceBinding:
		conditions = o.Status.Conditions
	}
	ready, _ := v1beta1.FindCondition(conditions, v1beta1.ConditionReady)
	if ready.Reason == policies.ReasonSlot || ready.Reason == policies.ReasonDenied {
		return []string{ready.Reason}
	}
	return nil
}

// AddIndexes makes the cache find what policies keep from their brokers. It is called once,
// before the cache starts.
func AddIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, o := range []client.Object{&v1beta1.ServiceInstance{}, &v1beta1.ServiceBinding{}} {
		if err := indexer.IndexField(ctx, o, indexPolicy, keptByPolicies); err != nil {
			return fmt.Errorf("cannot index %T by what policies keep them: %w", o, err)
		}
	}
	return nil
}

// byRules enqueues objects that policies deny when a policy is created, changed
// or deleted.
func byRules(reader client.Reader, kind quota.Kind) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, _ client.Object) []reconcile.Request {
		denied := keptBecause(ctx, reader, kind, policies.ReasonDenied)
		requests := make([]reconcile.Request, len(denied))
		for i, o := range denied {
			requests[i] = requestFor(o)
		}
		return requests
	})
}

// bySlots enqueues objects that wait for a slot: an object that was granted
// one, all of a namespace in which a slot was lost, since the policy may no
// longer apply there, and all of them when the policy itself changed or is
// gone.
func bySlots(reader client.Reader, kind quota.Kind) handler.EventHandler {
	enqueue := func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request], served func(client.Object) bool) {
		for _, o := range keptBecause(ctx, reader, kind, policies.ReasonSlot) {
			if served(o) {
				queue.Add(requestFor(o))
			}
		}
	}
	all := func(client.Object) bool { return true }
	return handler.Funcs{
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			before, was := e.ObjectOld.(*v1beta1.ProvisioningPolicy)
			after, is := e.ObjectNew.(*v1beta1.ProvisioningPolicy)
			if !was || !is || before.Generation != after.Generation || before.UID != after.UID {
				enqueue(ctx, queue, all)
				return
			}
			lost := losers(kind, before, after)
			enqueue(ctx, queue, func(o client.Object) bool {
				return lost[o.GetNamespace()] || has(kind, after, o) && !has(kind, before, o)
			})
		},
		DeleteFunc: func(ctx context.Context, _ event.DeleteEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			enqueue(ctx, queue, all)
		},
	}
}

// losers are the namespaces in which a slot was revoked or freed.
func losers(kind quota.Kind, before, after *v1beta1.ProvisioningPolicy) map[string]bool {
	lost := map[string]bool{}
	for i := range before.Status.Slots {
		namespace := before.Status.Slots[i].Namespace
		still := kind.Granted(&after.Status, namespace)
		lost[namespace] = slices.ContainsFunc(kind.Granted(&before.Status, namespace), func(uid types.UID) bool { return !slices.Contains(still, uid) })
	}
	return lost
}

// has says whether the policy granted the object a slot.
func has(kind quota.Kind, p *v1beta1.ProvisioningPolicy, o client.Object) bool {
	return slices.Contains(kind.Granted(&p.Status, o.GetNamespace()), o.GetUID())
}

// keptBecause are those of a kind that policies keep from their brokers for a reason.
func keptBecause(ctx context.Context, reader client.Reader, kind quota.Kind, reason string) []client.Object {
	var found []client.Object
	var err error
	match := client.MatchingFields{indexPolicy: reason}
	if kind == quota.Bindings {
		var list v1beta1.ServiceBindingList
		err = reader.List(ctx, &list, match, client.UnsafeDisableDeepCopy)
		for i := range list.Items {
			found = append(found, &list.Items[i])
		}
	} else {
		var list v1beta1.ServiceInstanceList
		err = reader.List(ctx, &list, match, client.UnsafeDisableDeepCopy)
		for i := range list.Items {
			found = append(found, &list.Items[i])
		}
	}
	if err != nil {
		log.FromContext(ctx).Error(err, "cannot list those that policies keep from their brokers")
	}
	return found
}
