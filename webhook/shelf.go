package webhook

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
// classes.
func (s shelf) ofType(ctx context.Context, serviceType string) (part, error) {
	match := client.MatchingFields{v1beta1.FieldServiceType: serviceType}
	found, err := s.classes(ctx, match)
	if err != nil {
		return part{}, err
	}
	for _, class := range found.Classes {
		inherited, err := s.plansOf(ctx, class.Name)
		if err != nil {
			return part{}, err
		}
		for _, plan := range inherited.Plans {
			// Those with the type of their own are listed below.
			if plan.Type == "" {
				found.Plans = append(found.Plans, plan)
			}
		}
	}
	own, err := s.plans(ctx, match)
	if err != nil {
		return part{}, err
	}
	return s.withClasses(ctx, found, own)
}

// annotated reads the plans that are annotated as default of a type that they
// name themselves. Only the cache has this index.
func (s shelf) annotated(ctx context.Context, serviceType string) (part, error) {
	plans, err := s.plans(ctx, client.MatchingFields{indexAnnotatedType: serviceType})
	if err != nil {
		return part{}, err
	}
	return s.withClasses(ctx, part{}, plans)
}

// withPlan adds to found the plan with that Kubernetes name, and its class. Both
// may be absent.
func (s shelf) withPlan(ctx context.Context, found part, name string) (part, error) {
	for _, plan := range found.Plans {
		if plan.Name == name && plan.Namespace == s.namespace {
			return found, nil
		}
	}
	plans, err := s.plan(ctx, name)
	if err != nil {
		return part{}, err
	}
	return s.withClasses(ctx, found, plans)
}

// withClasses adds plans to found, and each class of theirs that found lacks.
func (s shelf) withClasses(ctx context.Context, found part, plans []resolve.PlanEntry) (part, error) {
	known := make(map[string]bool, len(found.Classes))
	for _, class := range found.Classes {
		known[class.Name] = true
	}
	for _, plan := range plans {
		if known[plan.Class] {
			continue
		}
		known[plan.Class] = true
		class, err := s.class(ctx, plan.Class)
		if err != nil {
			return part{}, err
		}
		found.add(class)
	}
	found.Plans = append(found.Plans, plans...)
	return found, nil
}

// withRecords adds to found the records of every type that its plans have, and
// what the records name: a record counts only beside its plan.
func (s shelf) withRecords(ctx context.Context, found part) (part, error) {
	types := map[string]bool{}
	for _, class := range found.Classes {
		types[class.Type] = true
	}
	for _, plan := range found.Plans {
		types[plan.Type] = true
	}
	delete(types, "")
	for _, serviceType := range sortedKeys(types) {
		record, err := s.record(ctx, serviceType)
		if err != nil {
			return part{}, err
		}
		found.add(record)
		for _, recorded := range record.Records {
			if found, err = s.withPlan(ctx, found, recorded.Plan.Name); err != nil {
				return part{}, err
			}
		}
	}
	return found, nil
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
			p.Classes, p.newest = []resolve.ClassEntry{resolve.ClassFrom(c)}, c.CreationTimestamp.Time
		})
	}
	return get(ctx, s, name, &v1beta1.ServiceClass{}, func(p *part, c *v1beta1.ServiceClass) {
		p.Classes, p.newest = []resolve.ClassEntry{resolve.ClassFrom(c)}, c.CreationTimestamp.Time
	})
}

func (s shelf) plan(ctx context.Context, name string) ([]resolve.PlanEntry, error) {
	var found part
	var err error
	if s.namespace == "" {
		found, err = get(ctx, s, name, &v1beta1.ClusterServicePlan{}, func(p *part, plan *v1beta1.ClusterServicePlan) {
			p.Plans = []resolve.PlanEntry{resolve.PlanFrom(plan)}
		})
		return found.Plans, err
	}
	found, err = get(ctx, s, name, &v1beta1.ServicePlan{}, func(p *part, plan *v1beta1.ServicePlan) {
		p.Plans = []resolve.PlanEntry{resolve.PlanFrom(plan)}
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
			found.add(part{resolve.Catalog{Classes: []resolve.ClassEntry{resolve.ClassFrom(class)}}, class.CreationTimestamp.Time})
		}
		return found, nil
	}
	var list v1beta1.ServiceClassList
	if err := s.list(ctx, &list, match); err != nil {
		return part{}, err
	}
	for i := range list.Items {
		class := &list.Items[i]
		found.add(part{resolve.Catalog{Classes: []resolve.ClassEntry{resolve.ClassFrom(class)}}, class.CreationTimestamp.Time})
	}
	return found, nil
}

func (s shelf) plans(ctx context.Context, match client.MatchingFields) ([]resolve.PlanEntry, error) {
	if s.namespace == "" {
		var list v1beta1.ClusterServicePlanList
		if err := s.list(ctx, &list, match); err != nil {
			return nil, err
		}
		return entries(list.Items, resolve.PlanFrom), nil
	}
	var list v1beta1.ServicePlanList
	if err := s.list(ctx, &list, match); err != nil {
		return nil, err
	}
	return entries(list.Items, resolve.PlanFrom), nil
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
	if name == "" {
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
