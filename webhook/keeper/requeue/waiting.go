package requeue

import (
	"context"

	"github.com/defaultplan/defaultplan/webhook/catalog"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
)

// scopeOf is the scope of the objects that may wait for an object.
func scopeOf(reader client.Reader, object client.Object) catalog.Scope {
	if namespace, ok := object.(*corev1.Namespace); ok {
		return catalog.Scope{Reader: reader, Namespace: namespace.Name}
	}
	return catalog.Scope{Reader: reader, Namespace: object.GetNamespace()}
}

// wakesOf are the keys of what may have waited for an object.
func wakesOf(ctx context.Context, s catalog.Scope, object client.Object) ([]key, error) {
	switch o := controller.View(object).(type) {
	case controller.OfferingView:
		return wakesOfOffering(ctx, s, o.Entry)
	case resolve.Record:
		classes, err := classesOfType(ctx, s, o.Type)
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
func wakesOfOffering(ctx context.Context, s catalog.Scope, entry any) ([]key, error) {
	switch e := entry.(type) {
	case resolve.PlanEntry:
		classes, err := s.Class(ctx, e.Class)
		if err != nil {
			return nil, err
		}
		decided, err := decidedOn(ctx, s, e)
		return append(wakesOfPlan(&e, classes.Classes), decided...), err
	case resolve.ClassEntry:
		plans, err := s.PlansOf(ctx, e.Name)
		if err != nil {
			return nil, err
		}
		decided, err := decidedOn(ctx, s, plans.Plans...)
		return append(wakesOfClass(&e, plans.Plans), decided...), err
	}
	return nil, nil
}

// classesOfType are the classes in which plans are of a type: the class's own,
// or one that a plan has instead.
func classesOfType(ctx context.Context, s catalog.Scope, serviceType string) ([]resolve.ClassEntry, error) {
	match := client.MatchingFields{v1beta1.FieldServiceType: serviceType}
	found, err := s.Classes(ctx, match)
	if err != nil {
		return nil, err
	}
	if found.Plans, err = s.Plans(ctx, match); err != nil {
		return nil, err
	}
	found, err = s.WithClasses(ctx, found)
	return found.Classes, err
}

// decidedOn are the keys of the instances that were decided on one of the plans.
func decidedOn(ctx context.Context, s catalog.Scope, plans ...resolve.PlanEntry) ([]key, error) {
	var keys []key
	for i := range plans {
		var list v1beta1.ServiceInstanceList
		if err := s.List(ctx, &list, client.MatchingFields{indexDecidedOn: planValue(plans[i].Ref)}); err != nil {
			return nil, err
		}
		keys = append(keys, catalog.Entries(list.Items, func(i *v1beta1.ServiceInstance) key { return instanceKey(client.ObjectKeyFromObject(i)) })...)
	}
	return keys, nil
}

// waitingFor are the objects of the scope that wait for a key; of the cluster's
// scope, those of all namespaces.
func waitingFor(ctx context.Context, s catalog.Scope, k key) ([]waiter, error) {
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
func waitingOf(ctx context.Context, s catalog.Scope, waiters kind, k key) ([]waiter, error) {
	if waiters == bindings {
		var list v1beta1.ServiceBindingList
		err := s.List(ctx, &list, client.MatchingFields{indexWaitsFor: string(k)})
		return catalog.Entries(list.Items, func(b *v1beta1.ServiceBinding) waiter { return waiterOf(b) }), err
	}
	var list v1beta1.ServiceInstanceList
	err := s.List(ctx, &list, client.MatchingFields{indexWaitsFor: string(k)})
	return catalog.Entries(list.Items, func(i *v1beta1.ServiceInstance) waiter { return waiterOf(i) }), err
}
