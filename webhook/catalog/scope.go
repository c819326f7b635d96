package catalog

import (
	"context"
	"fmt"
	"path"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// A Scope is one of the two scopes of the catalog: the cluster's classes, plans and types,
// or, with a namespace, those of that namespace. Its reader is the cache or the
// API server: both select by the same fields.
type Scope struct {
	Reader    client.Reader
	Namespace string
	// Revision, if set, is the one that lists of a live reader are of.
	Revision string
}

// everything reads all plans and classes.
func (s Scope) everything(ctx context.Context) (Slice, error) {
	found, err := s.Classes(ctx, nil)
	if err != nil {
		return Slice{}, err
	}
	found.Plans, err = s.Plans(ctx, nil)
	return found, err
}

// Everywhere reads the classes and plans of the cluster and of every namespace.
func Everywhere(ctx context.Context, reader client.Reader) (Slice, error) {
	cluster := Scope{Reader: reader}
	found, err := cluster.everything(ctx)
	if err != nil {
		return Slice{}, err
	}
	// Listed without a namespace, those of every namespace.
	var classes v1beta1.ServiceClassList
	var plans v1beta1.ServicePlanList
	for _, list := range []client.ObjectList{&classes, &plans} {
		if err := cluster.List(ctx, list, nil); err != nil {
			return Slice{}, err
		}
	}
	found.Classes = append(found.Classes, Entries(classes.Items, ClassEntry)...)
	found.Plans = append(found.Plans, Entries(plans.Items, PlanEntry)...)
	return found, nil
}

// classesNamed reads the classes with a name of one of the three kinds.
func (s Scope) classesNamed(ctx context.Context, named resolve.Named) (Slice, error) {
	switch named.By {
	case resolve.ByExternalName:
		return s.Classes(ctx, client.MatchingFields{v1beta1.FieldExternalName: named.Value})
	case resolve.ByExternalID:
		return s.Classes(ctx, client.MatchingFields{v1beta1.FieldExternalID: named.Value})
	default:
		return s.Class(ctx, named.Value)
	}
}

// PlansOf reads the plans of the class with that Kubernetes name.
func (s Scope) PlansOf(ctx context.Context, class string) (Slice, error) {
	plans, err := s.Plans(ctx, client.MatchingFields{s.ClassField(): class})
	return Slice{Catalog: resolve.Catalog{Plans: plans}}, err
}

// ClassField is the field by which plans of the scope are found by their class.
func (s Scope) ClassField() string {
	return v1beta1.PerScope(s.Namespace, v1beta1.FieldClusterServiceClassRefName, v1beta1.FieldServiceClassRefName)
}

// planCalled reads the plan of a class with that external name. Only the cache
// has this index.
func (s Scope) planCalled(ctx context.Context, class, externalName string) (Slice, error) {
	plans, err := s.Plans(ctx, client.MatchingFields{indexExternalName: class + "/" + externalName})
	return Slice{Catalog: resolve.Catalog{Plans: plans}}, err
}

// OfType reads the plans of a type, their own or their class's, with their
// classes. All the plans are of one revision: of two that are made the default
// while they are listed, the second could be all that is seen.
func (s Scope) OfType(ctx context.Context, serviceType string) (Slice, error) {
	match := client.MatchingFields{v1beta1.FieldServiceType: serviceType}
	at := s
	own := func(s Scope, ctx context.Context) (found Slice, err error) {
		found.Plans, at.Revision, err = s.plansAt(ctx, match)
		return found, err
	}
	classes := func(s Scope, ctx context.Context) (Slice, error) { return s.Classes(ctx, match) }
	found, err := readAll(ctx, read{s, query{read: own}}, read{s, query{read: classes}})
	if err != nil {
		return Slice{}, err
	}
	for _, class := range found.Classes {
		plans, err := at.PlansOf(ctx, class.Name)
		if err != nil {
			return Slice{}, err
		}
		for _, plan := range plans.Plans {
			if plan.Type == "" {
				found.Plans = append(found.Plans, plan)
			}
		}
	}
	return s.WithClasses(ctx, found)
}

// annotated reads the plans of a type that are annotated as its default or as suggested: what
// can be chosen by type, among any number of plans. Only the cache has this index.
func (s Scope) annotated(ctx context.Context, serviceType string) (Slice, error) {
	found, err := s.Classes(ctx, client.MatchingFields{v1beta1.FieldServiceType: serviceType})
	if err != nil {
		return Slice{}, err
	}
	groups := []string{annotatedOfType(serviceType)}
	for _, class := range found.Classes {
		groups = append(groups, annotatedOfClass(class.Name))
	}
	for _, group := range groups {
		plans, err := s.Plans(ctx, client.MatchingFields{indexAnnotated: group})
		if err != nil {
			return Slice{}, err
		}
		found.Plans = append(found.Plans, plans...)
	}
	return s.WithClasses(ctx, found)
}

// record reads what a type records as its default in this scope.
func (s Scope) record(ctx context.Context, serviceType string) (Slice, error) {
	return get(ctx, s, serviceType, v1beta1.NewType(s.Namespace), func(p *Slice, t v1beta1.TypeObject) {
		p.Records = []resolve.Record{resolve.RecordFrom(t)}
	})
}

// Class reads the class with that Kubernetes name.
func (s Scope) Class(ctx context.Context, name string) (Slice, error) {
	return get(ctx, s, name, v1beta1.NewClass(s.Namespace), func(p *Slice, c v1beta1.ClassObject) {
		p.Classes, p.newest = []resolve.ClassEntry{ClassEntry(c)}, c.GetCreationTimestamp().Time
	})
}

// Plan reads the plan with that Kubernetes name, if there is one.
func (s Scope) Plan(ctx context.Context, name string) ([]resolve.PlanEntry, error) {
	found, err := get(ctx, s, name, v1beta1.NewPlan(s.Namespace), func(p *Slice, plan v1beta1.PlanObject) {
		p.Plans = []resolve.PlanEntry{PlanEntry(plan)}
	})
	return found.Plans, err
}

// Classes reads the classes that match.
func (s Scope) Classes(ctx context.Context, match client.MatchingFields) (Slice, error) {
	list := v1beta1.NewClassList(s.Namespace)
	if err := s.List(ctx, list, match); err != nil {
		return Slice{}, err
	}
	classes := list.Objects()
	found := Slice{Catalog: resolve.Catalog{Classes: make([]resolve.ClassEntry, 0, len(classes))}}
	for _, class := range classes {
		found.add(Slice{resolve.Catalog{Classes: []resolve.ClassEntry{ClassEntry(class)}}, class.GetCreationTimestamp().Time})
	}
	return found, nil
}

// Plans reads the plans that match.
func (s Scope) Plans(ctx context.Context, match client.MatchingFields) ([]resolve.PlanEntry, error) {
	found, _, err := s.plansAt(ctx, match)
	return found, err
}

// plansAt reads plans, and says of which revision they are.
func (s Scope) plansAt(ctx context.Context, match client.MatchingFields) (found []resolve.PlanEntry, revision string, err error) {
	plans, revision, err := s.PlanObjects(ctx, match)
	if err != nil {
		return nil, "", err
	}
	found = make([]resolve.PlanEntry, len(plans))
	for i, plan := range plans {
		found[i] = PlanEntry(plan)
	}
	return found, revision, nil
}

// PlanObjects lists plans, and says of which revision they are.
func (s Scope) PlanObjects(ctx context.Context, match client.MatchingFields) (plans []v1beta1.PlanObject, revision string, err error) {
	list := v1beta1.NewPlanList(s.Namespace)
	err = s.List(ctx, list, match)
	return list.Objects(), list.GetResourceVersion(), err
}

// TypeObjects lists types, all unless an option bounds them.
func (s Scope) TypeObjects(ctx context.Context, options ...client.ListOption) ([]v1beta1.TypeObject, error) {
	list := v1beta1.NewTypeList(s.Namespace)
	err := s.List(ctx, list, nil, options...)
	return list.Objects(), err
}

// List reads what matches of a kind; with a nil match, all of it. It is not changed: the cache need not copy it.
func (s Scope) List(ctx context.Context, list client.ObjectList, match client.MatchingFields, options ...client.ListOption) error {
	options = append(options, client.UnsafeDisableDeepCopy, client.InNamespace(s.Namespace))
	if match != nil {
		options = append(options, match)
	}
	if s.Revision != "" {
		options = append(options, &client.ListOptions{Raw: &metav1.ListOptions{
			ResourceVersion: s.Revision, ResourceVersionMatch: metav1.ResourceVersionMatchExact,
		}})
	}
	if err := s.Reader.List(ctx, list, options...); err != nil {
		return fmt.Errorf("cannot list %s: %w", ResourceOf(list), err)
	}
	return nil
}

// ResourceOf is what the API server calls objects of a kind; it is given one of them, or a list.
func ResourceOf(o runtime.Object) string {
	kind := o.GetObjectKind().GroupVersionKind().Kind
	if kind == "" {
		kind = reflect.TypeOf(o).Elem().Name()
	}
	resource, _ := meta.UnsafeGuessKindToResource(v1beta1.GroupVersion.WithKind(strings.TrimSuffix(kind, "List")))
	return resource.Resource
}

// get reads one object into a slice; an absent one gives an empty slice.
func get[T client.Object](ctx context.Context, s Scope, name string, object T, into func(*Slice, T)) (Slice, error) {
	var found Slice
	present, err := s.Read(ctx, name, object)
	if present {
		into(&found, object)
	}
	return found, err
}

// Read reads one object that is not changed, and says whether it exists.
func (s Scope) Read(ctx context.Context, name string, object client.Object) (bool, error) {
	// Admission gets names before they are validated, and the client rejects
	// some.
	if name == "" || len(content.IsPathSegmentName(name)) > 0 {
		return false, nil
	}
	err := s.Reader.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: name}, object, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot get %s %q: %w", ResourceOf(object), path.Join(s.Namespace, name), err)
	}
	return true, nil
}

// Entries are the items of a list, each as entry makes it.
func Entries[T, E any](items []T, entry func(*T) E) []E {
	all := make([]E, len(items))
	for i := range items {
		all[i] = entry(&items[i])
	}
	return all
}

// ClassEntry is the entry of a class in the state in which it was read.
func ClassEntry[T v1beta1.ClassObject](class T) resolve.ClassEntry {
	entry := resolve.ClassFrom(class)
	entry.ResourceVersion = class.GetResourceVersion()
	return entry
}

// PlanEntry is the entry of a plan in the state in which it was read.
func PlanEntry[T v1beta1.PlanObject](plan T) resolve.PlanEntry {
	entry := resolve.PlanFrom(plan)
	entry.ResourceVersion = plan.GetResourceVersion()
	return entry
}
