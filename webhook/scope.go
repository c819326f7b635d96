package webhook

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// A scope is one of the two scopes of the catalog: the cluster's classes, plans and types,
// or, with a namespace, those of that namespace. Its reader is the cache or the
// API server: both select by the same fields.
type scope struct {
	reader    client.Reader
	namespace string
	// revision, if set, is the one that lists of a live reader are of.
	revision string
}

// everything reads all plans and classes.
func (s scope) everything(ctx context.Context) (slice, error) {
	found, err := s.classes(ctx, nil)
	if err != nil {
		return slice{}, err
	}
	found.Plans, err = s.plans(ctx, nil)
	return found, err
}

// classesNamed reads the classes with a name of one of the three kinds.
func (s scope) classesNamed(ctx context.Context, named resolve.Named) (slice, error) {
	switch named.By {
	case resolve.ByExternalName:
		return s.classes(ctx, client.MatchingFields{v1beta1.FieldExternalName: named.Value})
	case resolve.ByExternalID:
		return s.classes(ctx, client.MatchingFields{v1beta1.FieldExternalID: named.Value})
	default:
		return s.class(ctx, named.Value)
	}
}

// plansOf reads the plans of the class with that Kubernetes name.
func (s scope) plansOf(ctx context.Context, class string) (slice, error) {
	field := v1beta1.FieldClusterServiceClassRefName
	if s.namespace != "" {
		field = v1beta1.FieldServiceClassRefName
	}
	plans, err := s.plans(ctx, client.MatchingFields{field: class})
	return slice{Catalog: resolve.Catalog{Plans: plans}}, err
}

// planCalled reads the plan of a class with that external name. Only the cache
// has this index.
func (s scope) planCalled(ctx context.Context, class, externalName string) (slice, error) {
	plans, err := s.plans(ctx, client.MatchingFields{indexExternalName: class + "/" + externalName})
	return slice{Catalog: resolve.Catalog{Plans: plans}}, err
}

// ofType reads the plans of a type, their own or their class's, with their
// classes. All the plans are of one revision: if two become the default while
// they are listed, the list could otherwise have only the second.
func (s scope) ofType(ctx context.Context, serviceType string) (slice, error) {
	match := client.MatchingFields{v1beta1.FieldServiceType: serviceType}
	at := s
	own := func(s scope, ctx context.Context) (found slice, err error) {
		found.Plans, at.revision, err = s.plansAt(ctx, match)
		return found, err
	}
	classes := func(s scope, ctx context.Context) (slice, error) { return s.classes(ctx, match) }
	found, err := readAll(ctx, read{s, query{read: own}}, read{s, query{read: classes}})
	if err != nil {
		return slice{}, err
	}
	for _, class := range found.Classes {
		plans, err := at.plansOf(ctx, class.Name)
		if err != nil {
			return slice{}, err
		}
		for _, plan := range plans.Plans {
			if plan.Type == "" {
				found.Plans = append(found.Plans, plan)
			}
		}
	}
	return s.withClasses(ctx, found)
}

// annotated reads the plans that are annotated as default of a type that they
// name themselves. Only the cache has this index.
func (s scope) annotated(ctx context.Context, serviceType string) (slice, error) {
	plans, err := s.plans(ctx, client.MatchingFields{indexAnnotatedType: serviceType})
	if err != nil {
		return slice{}, err
	}
	return s.withClasses(ctx, slice{Catalog: resolve.Catalog{Plans: plans}})
}

// record reads what a type records as its default in this scope.
func (s scope) record(ctx context.Context, serviceType string) (slice, error) {
	return get(ctx, s, serviceType, v1beta1.NewType(s.namespace), func(p *slice, t v1beta1.TypeObject) {
		p.Records = []resolve.Record{resolve.RecordFrom(t)}
	})
}

func (s scope) class(ctx context.Context, name string) (slice, error) {
	return get(ctx, s, name, v1beta1.NewClass(s.namespace), func(p *slice, c v1beta1.ClassObject) {
		p.Classes, p.newest = []resolve.ClassEntry{classEntry(c)}, c.GetCreationTimestamp().Time
	})
}

func (s scope) plan(ctx context.Context, name string) ([]resolve.PlanEntry, error) {
	found, err := get(ctx, s, name, v1beta1.NewPlan(s.namespace), func(p *slice, plan v1beta1.PlanObject) {
		p.Plans = []resolve.PlanEntry{planEntry(plan)}
	})
	return found.Plans, err
}

func (s scope) classes(ctx context.Context, match client.MatchingFields) (slice, error) {
	var found slice
	if s.namespace == "" {
		var list v1beta1.ClusterServiceClassList
		if err := s.list(ctx, &list, match); err != nil {
			return slice{}, err
		}
		for i := range list.Items {
			class := &list.Items[i]
			found.add(slice{resolve.Catalog{Classes: []resolve.ClassEntry{classEntry(class)}}, class.CreationTimestamp.Time})
		}
		return found, nil
	}
	var list v1beta1.ServiceClassList
	if err := s.list(ctx, &list, match); err != nil {
		return slice{}, err
	}
	for i := range list.Items {
		class := &list.Items[i]
		found.add(slice{resolve.Catalog{Classes: []resolve.ClassEntry{classEntry(class)}}, class.CreationTimestamp.Time})
	}
	return found, nil
}

func (s scope) plans(ctx context.Context, match client.MatchingFields) ([]resolve.PlanEntry, error) {
	found, _, err := s.plansAt(ctx, match)
	return found, err
}

// plansAt reads plans, and says of which revision they are.
func (s scope) plansAt(ctx context.Context, match client.MatchingFields) (found []resolve.PlanEntry, revision string, err error) {
	if s.namespace == "" {
		var list v1beta1.ClusterServicePlanList
		if err := s.list(ctx, &list, match); err != nil {
			return nil, "", err
		}
		return entries(list.Items, planEntry), list.ResourceVersion, nil
	}
	var list v1beta1.ServicePlanList
	if err := s.list(ctx, &list, match); err != nil {
		return nil, "", err
	}
	return entries(list.Items, planEntry), list.ResourceVersion, nil
}

// list reads a list that is not changed: the cache need not copy it.
func (s scope) list(ctx context.Context, list client.ObjectList, match client.MatchingFields) error {
	options := []client.ListOption{client.UnsafeDisableDeepCopy}
	if s.namespace != "" {
		options = append(options, client.InNamespace(s.namespace))
	}
	if match != nil {
		options = append(options, match)
	}
	if s.revision != "" {
		options = append(options, &client.ListOptions{Raw: &metav1.ListOptions{
			ResourceVersion: s.revision, ResourceVersionMatch: metav1.ResourceVersionMatchExact,
		}})
	}
	if err := s.reader.List(ctx, list, options...); err != nil {
		return fmt.Errorf("cannot list %T: %w", list, err)
	}
	return nil
}

// get reads one object into a slice; an absent one gives an empty slice.
func get[T client.Object](ctx context.Context, s scope, name string, object T, into func(*slice, T)) (slice, error) {
	var found slice
	present, err := s.read(ctx, name, object)
	if present {
		into(&found, object)
	}
	return found, err
}

// read reads one object that is not changed, and says whether it exists.
func (s scope) read(ctx context.Context, name string, object client.Object) (bool, error) {
	// Admission gets names before they are validated, and the client rejects
	// some.
	if name == "" || len(content.IsPathSegmentName(name)) > 0 {
		return false, nil
	}
	err := s.reader.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, object, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot get %T %q: %w", object, name, err)
	}
	return true, nil
}

func entries[T, E any](items []T, entry func(*T) E) []E {
	all := make([]E, len(items))
	for i := range items {
		all[i] = entry(&items[i])
	}
	return all
}

// classEntry is the entry of a class in the state in which it was read.
func classEntry[T v1beta1.ClassObject](class T) resolve.ClassEntry {
	entry := resolve.ClassFrom(class)
	entry.ResourceVersion = class.GetResourceVersion()
	return entry
}

// planEntry is the entry of a plan in the state in which it was read.
func planEntry[T v1beta1.PlanObject](plan T) resolve.PlanEntry {
	entry := resolve.PlanFrom(plan)
	entry.ResourceVersion = plan.GetResourceVersion()
	return entry
}
