package keeper

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// A scope is the cached catalog of a namespace, or, without one, the cluster's.
type scope struct {
	reader    client.Reader
	namespace string
}

// wakes are the keys of those who may have waited for this of an object.
func (s scope) wakes(ctx context.Context, object client.Object) ([]key, error) {
	switch entry := view(object).Entry.(type) {
	case resolve.PlanEntry:
		classes, err := s.class(ctx, entry.Class)
		return wakesOfPlan(&entry, classes), err
	case resolve.ClassEntry:
		plans, err := s.plansOf(ctx, entry.Name)
		return wakesOfClass(&entry, plans), err
	case resolve.Record:
		classes, err := s.classesOfType(ctx, entry.Type)
		return wakesOfRecord(entry, classes), err
	}
	return nil, nil
}

// class is the class with that Kubernetes name, if there is one.
func (s scope) class(ctx context.Context, name string) ([]resolve.ClassEntry, error) {
	at := client.ObjectKey{Namespace: s.namespace, Name: name}
	if s.namespace != "" {
		return get(ctx, s, at, &v1beta1.ServiceClass{}, resolve.ClassFrom)
	}
	return get(ctx, s, at, &v1beta1.ClusterServiceClass{}, resolve.ClassFrom)
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

// waiting are the instances of the scope that wait for a key; of the cluster's
// scope, those of all namespaces.
func (s scope) waiting(ctx context.Context, k key) ([]client.ObjectKey, error) {
	var list v1beta1.ServiceInstanceList
	err := s.list(ctx, &list, indexWaitsFor, string(k))
	return entries(list.Items, func(i *v1beta1.ServiceInstance) client.ObjectKey { return client.ObjectKeyFromObject(i) }), err
}

// list reads a list that is only looked at: the cache need not copy it.
func (s scope) list(ctx context.Context, list client.ObjectList, field, value string) error {
	err := s.reader.List(ctx, list, client.MatchingFields{field: value}, client.InNamespace(s.namespace), client.UnsafeDisableDeepCopy)
	if err != nil {
		return fmt.Errorf("cannot list %T by %q: %w", list, field, err)
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
