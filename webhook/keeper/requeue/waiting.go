package requeue

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
)

// scopeOf is the scope of the objects that may wait for an object.
func scopeOf(reader client.Reader, object client.Object) controller.Scope {
	if namespace, ok := object.(*corev1.Namespace); ok {
		return controller.Scope{Reader: reader, Namespace: namespace.Name}
	}
	return controller.Scope{Reader: reader, Namespace: object.GetNamespace()}
}

// wakesOf are the keys of what may have waited for an object.
func wakesOf(ctx context.Context, s controller.Scope, object client.Object) ([]key, error) {
	switch o := controller.View(object).(type) {
	case controller.OfferingView:
		return wakesOfOffering(ctx, s, o.Entry)
	case resolve.Record:
		classes, err := s.ClassesOfType(ctx, o.Type)
		return wakesOfRecord(o, classes), err
	case controller.InstanceView:
		return wakesOfInstance(client.ObjectKeyFromObject(object), &o), nil
	case v1beta1.BindingPolicySpec:
		return []key{everyBinding}, nil
	case v1beta1.ProvisioningPolicySpec, map[string]string:
		return []key{everyInstance, everyBinding}, nil
	}
	return nil, nil
}

// wakesOfOffering are the keys for a class or plan: of the instances that may
// have waited for it, and of the bindings to those that have it.
func wakesOfOffering(ctx context.Context, s controller.Scope, entry any) ([]key, error) {
	switch e := entry.(type) {
	case resolve.PlanEntry:
		classes, err := s.Class(ctx, e.Class)
		if err != nil {
			return nil, err
		}
		decided, err := decidedOn(ctx, s, e)
		return append(wakesOfPlan(&e, classes), decided...), err
	case resolve.ClassEntry:
		plans, err := s.PlansOf(ctx, e.Name)
		if err != nil {
			return nil, err
		}
		decided, err := decidedOn(ctx, s, plans...)
		return append(wakesOfClass(&e, plans), decided...), err
	}
	return nil, nil
}

// decidedOn are the keys of the instances that were decided on one of the plans.
func decidedOn(ctx context.Context, s controller.Scope, plans ...resolve.PlanEntry) ([]key, error) {
	var keys []key
	for i := range plans {
		var list v1beta1.ServiceInstanceList
		if err := s.List(ctx, &list, indexDecidedOn, planValue(plans[i].Ref)); err != nil {
			return nil, err
		}
		keys = append(keys, controller.Entries(list.Items, func(i *v1beta1.ServiceInstance) key { return instanceKey(client.ObjectKeyFromObject(i)) })...)
	}
	return keys, nil
}

// waitingFor are the objects of the scope that wait for a key; of the cluster's
// scope, those of all namespaces.
func waitingFor(ctx context.Context, s controller.Scope, k key) ([]waiter, error) {
	var all []waiter
	for _, waiters := range k.waiters() {
		found, err := waitingOf(ctx, s, waiters, k)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// waitingOf are those of a kind.
func waitingOf(ctx context.Context, s controller.Scope, waiters kind, k key) ([]waiter, error) {
	if waiters == bindings {
		var list v1beta1.ServiceBindingList
		err := s.List(ctx, &list, indexWaitsFor, string(k))
		return controller.Entries(list.Items, func(b *v1beta1.ServiceBinding) waiter { return waiterOf(b) }), err
	}
	var list v1beta1.ServiceInstanceList
	err := s.List(ctx, &list, indexWaitsFor, string(k))
	return controller.Entries(list.Items, func(i *v1beta1.ServiceInstance) waiter { return waiterOf(i) }), err
}
