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

// A shelf is one scope of the catalog: the cluster's classes, plans and types,
// or, with a namespace, those of that namespace. Its reader is the cache or the
// API server: both select by the same fields.
type shelf struct {
	reader    client.Reader
	namespace string
	// revision, if set, is the one that lists of a live reader are of.
	revision string
}

// everything reads all plans and classes.
func (s shelf) everything(ctx context.Context) (part, error) {
	found, err := s.classes(ctx, nil)
	if err != nil {
		return part{}, err
	}
	found.Plans, err = s.plans(ctx, nil)
	return found, err
}

// classesNamed reads the classes with a name of one of the three kinds.
func (s shelf) classesNamed(ctx context.Context, named resolve.Named) (part, error) {
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
func (s shelf) plansOf(ctx context.Context, class string) (part, error) {
	field := v1beta1.FieldClusterServiceClassRefName
	if s.namespace != "" {
		field = v1beta1.FieldServiceClassRefName
	}
	plans, err := s.plans(ctx, client.MatchingFields{field: class})
	return part{Catalog: resolve.Catalog{Plans: plans}}, err
}

// planCalled reads the plan of a class with that external name. Only the cache
// has this index.
func (s shelf) planCalled(ctx context.Context, class, externalName string) (part, error) {
	plans, err := s.plans(ctx, client.MatchingFields{indexExternalName: class + "/" + externalName})
	return part{Catalog: resolve.Catalog{Plans: plans}}, err
}

// ofType reads the plans of a type, their own or their class's, with their
// classes. All the plans are of one revision: of two that are made the default
// while they are listed, the second could be all that is seen.
func (s shelf) ofType(ctx context.Context, serviceType string) (part, error) {
	match := client.MatchingFields{v1beta1.FieldServiceType: serviceType}
	at := s
	own := func(s shelf, ctx context.Context) (found part, err error) {
		found.Plans, at.revision, err = s.plansAt(ctx, match)
		return found, err
	}
	classes := func(s shelf, ctx context.Context) (part, error) { return s.classes(ctx, match) }
	found, err := gather(ctx, look{s, query{read: own}}, look{s, query{read: classes}})
	if err != nil {
		return part{}, err
	}
	for _, class := range found.Classes {
		plans, err := at.plansOf(ctx, class.Name)
		if err != nil {
			return part{}, err
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
func (s shelf) annotated(ctx context.Context, serviceType string) (part, error) {
	plans, err := s.plans(ctx, client.MatchingFields{indexAnnotatedType: serviceType})
	if err != nil {
		return part{}, err
	}
	return s.withClasses(ctx, part{Catalog: resolve.Catalog{Plans: plans}})
}

// record reads what a type records as its default on this shelf.
func (s shelf) record(ctx context.Context, serviceType string) (part, error) {
	if s.namespace == "" {
		return get(ctx, s, serviceType, &v1beta1.ClusterServiceType{}, func(p *part, t *v1beta1.ClusterServiceType) {
			p.Records = []resolve.Record{resolve.RecordFrom(t)}
		})
	}
	return get(ctx, s, serviceType, &v1beta1.ServiceType{}, func(p *part, t *v1beta1.ServiceType) {
		p.Records = []resolve.Record{resolve.RecordFrom(t)}
	})
}

func (s shelf) class(ctx context.Context, name string) (part, error) {
	if s.namespace == "" {
		return get(ctx, s, name, &v1beta1.ClusterServiceClass{}, func(p *part, c *v1beta1.ClusterServiceClass) {
			p.Classes, p.newest = []resolve.ClassEntry{classEntry(c)}, c.CreationTimestamp.Time
		})
	}
	return get(ctx, s, name, &v1beta1.ServiceClass{}, func(p *part, c *v1beta1.ServiceClass) {
		p.Classes, p.newest = []resolve.ClassEntry{classEntry(c)}, c.CreationTimestamp.Time
	})
}

func (s shelf) plan(ctx context.Context, name string) ([]resolve.PlanEntry, error) {
	var found part
	var err error
	if s.namespace == "" {
		found, err = get(ctx, s, name, &v1beta1.ClusterServicePlan{}, func(p *part, plan *v1beta1.ClusterServicePlan) {
			p.Plans = []resolve.PlanEntry{planEntry(plan)}
		})
		return found.Plans, err
	}
	found, err = get(ctx, s, name, &v1beta1.ServicePlan{}, func(p *part, plan *v1beta1.ServicePlan) {
		p.Plans = []resolve.PlanEntry{planEntry(plan)}
	})
	return found.Plans, err
}

func (s shelf) classes(ctx context.Context, match client.MatchingFields) (part, error) {
	var found part
	if s.namespace == "" {
		var list v1beta1.ClusterServiceClassList
		if err := s.list(ctx, &list, match); err != nil {
			return part{}, err
		}
		for i := range list.Items {
			class := &list.Items[i]
			found.add(part{resolve.Catalog{Classes: []resolve.ClassEntry{classEntry(class)}}, class.CreationTimestamp.Time})
		}
		return found, nil
	}
	var list v1beta1.ServiceClassList
	if err := s.list(ctx, &list, match); err != nil {
		return part{}, err
	}
	for i := range list.Items {
		class := &list.Items[i]
		found.add(part{resolve.Catalog{Classes: []resolve.ClassEntry{classEntry(class)}}, class.CreationTimestamp.Time})
	}
	return found, nil
}

func (s shelf) plans(ctx context.Context, match client.MatchingFields) ([]resolve.PlanEntry, error) {
	found, _, err := s.plansAt(ctx, match)
	return found, err
}

// plansAt reads plans, and says of which revision they are.
func (s shelf) plansAt(ctx context.Context, match client.MatchingFields) (found []resolve.PlanEntry, revision string, err error) {
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

// list reads a list that is only looked at: the cache need not copy it.
func (s shelf) list(ctx context.Context, list client.ObjectList, match client.MatchingFields) error {
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

// get reads one object into a part; an absent one gives an empty part.
func get[T client.Object](ctx context.Context, s shelf, name string, object T, into func(*part, T)) (part, error) {
	var found part
	present, err := s.read(ctx, name, object)
	if present {
		into(&found, object)
	}
	return found, err
}

// read reads one object that is only looked at, and says whether it is there.
func (s shelf) read(ctx context.Context, name string, object client.Object) (bool, error) {
	// Admission sees names before the schema does, and a client fails to ask for some.
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
func classEntry[T interface {
	*v1beta1.ClusterServiceClass | *v1beta1.ServiceClass
	GetResourceVersion() string
}](class T) resolve.ClassEntry {
	entry := resolve.ClassFrom(class)
	entry.ResourceVersion = class.GetResourceVersion()
	return entry
}

// planEntry is the entry of a plan in the state in which it was read.
func planEntry[T interface {
	*v1beta1.ClusterServicePlan | *v1beta1.ServicePlan
	GetResourceVersion() string
}](plan T) resolve.PlanEntry {
	entry := resolve.PlanFrom(plan)
	entry.ResourceVersion = plan.GetResourceVersion()
	return entry
}
