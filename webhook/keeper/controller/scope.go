package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// A Scope reads a namespace from the cache, or, without one, the cluster's
// catalog and the undecided objects of all namespaces.
type Scope struct {
	Reader    client.Reader
	Namespace string
	// Revision, if set, is the one that lists of a live reader are of.
	Revision string
}

// Class is the class with that Kubernetes name, if there is one.
func (s Scope) Class(ctx context.Context, name string) ([]resolve.ClassEntry, error) {
	at := client.ObjectKey{Namespace: s.Namespace, Name: name}
	if s.Namespace != "" {
		return Get(ctx, s, at, &v1beta1.ServiceClass{}, resolve.ClassFrom)
	}
	return Get(ctx, s, at, &v1beta1.ClusterServiceClass{}, resolve.ClassFrom)
}

// Plan is the plan with that Kubernetes name, if there is one.
func (s Scope) Plan(ctx context.Context, name string) ([]resolve.PlanEntry, error) {
	at := client.ObjectKey{Namespace: s.Namespace, Name: name}
	if s.Namespace != "" {
		return Get(ctx, s, at, &v1beta1.ServicePlan{}, resolve.PlanFrom)
	}
	return Get(ctx, s, at, &v1beta1.ClusterServicePlan{}, resolve.PlanFrom)
}

// PlansOf are the plans of a class.
func (s Scope) PlansOf(ctx context.Context, class string) ([]resolve.PlanEntry, error) {
	if s.Namespace != "" {
		return s.Plans(ctx, v1beta1.FieldServiceClassRefName, class)
	}
	return s.Plans(ctx, v1beta1.FieldClusterServiceClassRefName, class)
}

// ClassesOfType are the classes in which plans are of a type: the class's own,
// or one that a plan has instead.
func (s Scope) ClassesOfType(ctx context.Context, serviceType string) ([]resolve.ClassEntry, error) {
	classes, err := s.Classes(ctx, v1beta1.FieldServiceType, serviceType)
	if err != nil {
		return nil, err
	}
	plans, err := s.Plans(ctx, v1beta1.FieldServiceType, serviceType)
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
		class, err := s.Class(ctx, plans[i].Class)
		if err != nil {
			return nil, err
		}
		classes = append(classes, class...)
	}
	return classes, nil
}

// Classes are the classes of which the field has that value.
func (s Scope) Classes(ctx context.Context, field, value string) ([]resolve.ClassEntry, error) {
	if s.Namespace != "" {
		var list v1beta1.ServiceClassList
		err := s.List(ctx, &list, field, value)
		return Entries(list.Items, resolve.ClassFrom), err
	}
	var list v1beta1.ClusterServiceClassList
	err := s.List(ctx, &list, field, value)
	return Entries(list.Items, resolve.ClassFrom), err
}

// Plans are the plans of which the field has that value.
func (s Scope) Plans(ctx context.Context, field, value string) ([]resolve.PlanEntry, error) {
	if s.Namespace != "" {
		var list v1beta1.ServicePlanList
		err := s.List(ctx, &list, field, value)
		return Entries(list.Items, resolve.PlanFrom), err
	}
	var list v1beta1.ClusterServicePlanList
	err := s.List(ctx, &list, field, value)
	return Entries(list.Items, resolve.PlanFrom), err
}

// List reads a list that is not changed: the cache need not copy it.
func (s Scope) List(ctx context.Context, list client.ObjectList, field, value string) error {
	options := []client.ListOption{client.MatchingFields{field: value}, client.InNamespace(s.Namespace), client.UnsafeDisableDeepCopy}
	if s.Revision != "" {
		options = append(options, &client.ListOptions{Raw: &metav1.ListOptions{
			ResourceVersion: s.Revision, ResourceVersionMatch: metav1.ResourceVersionMatchExact,
		}})
	}
	if err := s.Reader.List(ctx, list, options...); err != nil {
		return fmt.Errorf("cannot list %T by %q: %w", list, field, err)
	}
	return nil
}

// ListAll reads all of a kind in the scope; without a namespace, in all.
func (s Scope) ListAll(ctx context.Context, list client.ObjectList) error {
	if err := s.Reader.List(ctx, list, client.InNamespace(s.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("cannot list %T: %w", list, err)
	}
	return nil
}

// Get reads an object of the scope: no entry if it does not exist.
func Get[T client.Object, E any](ctx context.Context, s Scope, at client.ObjectKey, object T, entry func(T) E) ([]E, error) {
	err := s.Reader.Get(ctx, at, object, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot get %T %q: %w", object, at.Name, err)
	}
	return []E{entry(object)}, nil
}

// Entries are the items of a list, each as entry makes it.
func Entries[T, E any](items []T, entry func(*T) E) []E {
	all := make([]E, len(items))
	for i := range items {
		all[i] = entry(&items[i])
	}
	return all
}

// ClassField is the field by which plans of the scope are found by their class.
func (s Scope) ClassField() string {
	if s.Namespace != "" {
		return v1beta1.FieldServiceClassRefName
	}
	return v1beta1.FieldClusterServiceClassRefName
}
