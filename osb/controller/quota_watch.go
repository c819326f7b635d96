package controller

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// indexSlot finds the instances, and the bindings, that wait for a slot. It is the
// cache's own.
const indexSlot = "defaultplan/waits-for-slot"

// waiting is the value of those who wait.
const waiting = "true"

func waitsForASlot(o client.Object) []string {
	var conditions []v1beta1.Condition
	switch o := o.(type) {
	case *v1beta1.ServiceInstance:
		conditions = o.Status.Conditions
	case *v1beta1.ServiceBinding:
		conditions = o.Status.Conditions
	}
	if ready, _ := v1beta1.FindCondition(conditions, v1beta1.ConditionReady); ready.Reason == reasonSlot {
		return []string{waiting}
	}
	return nil
}

func addSlotIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, o := range []client.Object{&v1beta1.ServiceInstance{}, &v1beta1.ServiceBinding{}} {
		if err := indexer.IndexField(ctx, o, indexSlot, waitsForASlot); err != nil {
			return fmt.Errorf("cannot index %T by what waits for a slot: %w", o, err)
		}
	}
	return nil
}

func (p *parts) quotas() *quotas {
	return &quotas{cached: p.mgr.GetClient(), live: p.mgr.GetAPIReader()}
}

// watchSlots adds the policies that grant slots.
func (p *parts) watchSlots(b *builder.Builder, kind quota.Kind) *builder.Builder {
	if p.options.scope().ignoreQuotas {
		return b
	}
	return b.Watches(&v1beta1.ProvisioningPolicy{}, bySlots(p.mgr.GetClient(), kind))
}

// bySlots brings a pass over those who wait for a slot when they got one, over those of a
// namespace in which somebody lost one, for the policy may not hold there any more, and
// over all of them when the policy itself changed or is gone.
func bySlots(reader client.Reader, kind quota.Kind) handler.EventHandler {
	enqueue := func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request], served func(client.Object) bool) {
		for _, o := range waitingFor(ctx, reader, kind) {
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

// losers are the namespaces in which a slot was taken or freed.
func losers(kind quota.Kind, before, after *v1beta1.ProvisioningPolicy) map[string]bool {
	lost := map[string]bool{}
	for i := range before.Status.Slots {
		namespace := before.Status.Slots[i].Namespace
		still := kind.Granted(&after.Status, namespace)
		lost[namespace] = slices.ContainsFunc(kind.Granted(&before.Status, namespace), func(uid types.UID) bool { return !slices.Contains(still, uid) })
	}
	return lost
}

// has says that the policy granted the object a slot.
func has(kind quota.Kind, p *v1beta1.ProvisioningPolicy, o client.Object) bool {
	return slices.Contains(kind.Granted(&p.Status, o.GetNamespace()), o.GetUID())
}

func waitingFor(ctx context.Context, reader client.Reader, kind quota.Kind) []client.Object {
	var found []client.Object
	var err error
	match := client.MatchingFields{indexSlot: waiting}
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
		log.FromContext(ctx).Error(err, "cannot list those that wait for a slot")
	}
	return found
}
