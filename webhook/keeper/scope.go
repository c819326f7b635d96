package keeper

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// A scope is what the cache has of a namespace, or, without one, the cluster's
// catalog and those of all namespaces who wait.
type scope struct {
	reader    client.Reader
	namespace string
	// revision, if set, is the one that lists of a live reader are of.
	revision string
}

// scopeOf is the scope in which those are who may have waited for an object.
func scopeOf(reader client.Reader, object client.Object) scope {
	if namespace, ok := object.(*corev1.Namespace); ok {
		return scope{reader: reader, namespace: namespace.Name}
	}
	return scope{reader: reader, namespace: object.GetNamespace()}
}

// wakes are the keys of those who may have waited for this of an object.
func (s scope) wakes(ctx context.Context, object client.Object) ([]key, error) {
	switch o := view(object).(type) {
	case offeringView:
		return s.wakesOfOffering(ctx, o.Entry)
	case resolve.Record:
		classes, err := s.classesOfType(ctx, o.Type)
		return wakesOfRecord(o, classes), err
	case instanceView:
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
func (s scope) wakesOfOffering(ctx context.Context, entry any) ([]key, error) {
	switch e := entry.(type) {
	case resolve.PlanEntry:
		classes, err := s.class(ctx, e.Class)
		if err != nil {
			return nil, err
		}
		decided, err := s.decidedOn(ctx, e)
		return append(wakesOfPlan(&e, classes), decided...), err
	case resolve.ClassEntry:
		plans, err := s.plansOf(ctx, e.Name)
		if err != nil {
			return nil, err
		}
		decided, err := s.decidedOn(ctx, plans...)
		return append(wakesOfClass(&e, plans), decided...), err
	}
	return nil, nil
}

// decidedOn are the keys of the instances that were decided on one of the plans.
func (s scope) decidedOn(ctx context.Context, plans ...resolve.PlanEntry) ([]key, error) {
	var keys []key
	for i := range plans {
		var list v1beta1.ServiceInstanceList
		if err := s.list(ctx, &list, indexDecidedOn, planValue(plans[i].Ref)); err != nil {
			return nil, err
		}
		keys = append(keys, entries(list.Items, func(i *v1beta1.ServiceInstance) key { return instanceKey(client.ObjectKeyFromObject(i)) })...)
	}
	return keys, nil
}

// class is the class with that Kubernetes name, if there is one.
func (s scope) class(ctx context.Context, name string) ([]resolve.ClassEntry, error) {
	at := client.ObjectKey{Namespace: s.namespace, Name: name}
	if s.namespace != "" {
		return get(ctx, s, at, &v1beta1.ServiceClass{}, resolve.ClassFrom)
	}
	return get(ctx, s, at, &v1beta1.ClusterServiceClass{}, resolve.ClassFrom)
}

// plan is the plan with that Kubernetes name, if there is one.
func (s scope) plan(ctx context.Context, name string) ([]resolve.PlanEntry, error) {
	at := client.ObjectKey{Namespace: s.namespace, Name: name}
	if s.namespace != "" {
		return get(ctx, s, at, &v1beta1.ServicePlan{}, resolve.PlanFrom)
	}
	return get(ctx, s, at, &v1beta1.ClusterServicePlan{}, resolve.PlanFrom)
}

func (s scope) plansOf(ctx context.Context, class string) ([]resolve.PlanEntry, error) {
	if s.namespace != "" {
		return s.plans(ctx, v1beta1.FieldServiceClassRefName, class)
	}
	return s.plans(ctx, v1beta1.FieldClusterServiceClassRefName, class)
}

// classesOfType are the classes in which plans are of a type: the class's own,
// or one that a plan has instead.
func (s scope) classesOfType(ctx context.Context, serviceType string) ([]resolve.ClassEntry, error) {
	classes, err := s.classes(ctx, v1beta1.FieldServiceType, serviceType)
	if err != nil {
		return nil, err
	}
	plans, err := s.plans(ctx, v1beta1.FieldServiceType, serviceType)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(classes))
	for i := range classes {
		known[classes[i].Name] = true
	}
	for i := range plans {
		if known[plans[i].Class] {
			continue
		}
		known[plans[i].Class] = true
		class, err := s.class(ctx, plans[i].Class)
		if err != nil {
			return nil, err
		}
		classes = append(classes, class...)
	}
	return classes, nil
}

func (s scope) classes(ctx context.Context, field, value string) ([]resolve.ClassEntry, error) {
	if s.namespace != "" {
		var list v1beta1.ServiceClassList
		err := s.list(ctx, &list, field, value)
		return entries(list.Items, resolve.ClassFrom), err
	}
	var list v1beta1.ClusterServiceClassList
	err := s.list(ctx, &list, field, value)
	return entries(list.Items, resolve.ClassFrom), err
}

func (s scope) plans(ctx context.Context, field, value string) ([]resolve.PlanEntry, error) {
	if s.namespace != "" {
		var list v1beta1.ServicePlanList
		err := s.list(ctx, &list, field, value)
		return entries(list.Items, resolve.PlanFrom), err
	}
	var list v1beta1.ClusterServicePlanList
	err := s.list(ctx, &list, field, value)
	return entries(list.Items, resolve.PlanFrom), err
}

// waiting are those of the scope who wait for a key; of the cluster's scope, those
// of all namespaces.
func (s scope) waiting(ctx context.Context, k key) ([]waiter, error) {
	var all []waiter
	for _, waiters := range k.waiters() {
		found, err := s.waitingOf(ctx, waiters, k)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// waitingOf are those of a kind.
func (s scope) waitingOf(ctx context.Context, waiters kind, k key) ([]waiter, error) {
	if waiters == bindings {
		var list v1beta1.ServiceBindingList
		err := s.list(ctx, &list, indexWaitsFor, string(k))
		return entries(list.Items, func(b *v1beta1.ServiceBinding) waiter { return waiterOf(b) }), err
	}
	var list v1beta1.ServiceInstanceList
	err := s.list(ctx, &list, indexWaitsFor, string(k))
	return entries(list.Items, func(i *v1beta1.ServiceInstance) waiter { return waiterOf(i) }), err
}

// list reads a list that is only looked at: the cache need not copy it.
func (s scope) list(ctx context.Context, list client.ObjectList, field, value string) error {
	options := []client.ListOption{client.MatchingFields{field: value}, client.InNamespace(s.namespace), client.UnsafeDisableDeepCopy}
	if s.revision != "" {
		options = append(options, &client.ListOptions{Raw: &metav1.ListOptions{
			ResourceVersion: s.revision, ResourceVersionMatch: metav1.ResourceVersionMatchExact,
		}})
	}
	if err := s.reader.List(ctx, list, options...); err != nil {
		return fmt.Errorf("cannot list %T by %q: %w", list, field, err)
	}
	return nil
}

// listAll reads all of a kind in the scope; without a namespace, in all.
func (s scope) listAll(ctx context.Context, list client.ObjectList) error {
	if err := s.reader.List(ctx, list, client.InNamespace(s.namespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("cannot list %T: %w", list, err)
	}
	return nil
}

func get[T client.Object, E any](ctx context.Context, s scope, at client.ObjectKey, object T, entry func(T) E) ([]E, error) {
	err := s.reader.Get(ctx, at, object, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot get %T %q: %w", object, at.Name, err)
	}
	return []E{entry(object)}, nil
}

func entries[T, E any](items []T, entry func(*T) E) []E {
	all := make([]E, len(items))
	for i := range items {
		all[i] = entry(&items[i])
	}
	return all
}
