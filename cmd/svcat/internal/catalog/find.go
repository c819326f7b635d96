package catalog

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// A Finder finds the one object that a person means by a name. It looks in the
// namespace of its scope first, then in the cluster; within a scope an external
// name and a Kubernetes name count alike, unless KubeName is set.
//
// Every error that is about the name is a *NameError; others are the API server's.
type Finder struct {
	Reader client.Reader
	Scope  cli.Scope
	// KubeName takes names for Kubernetes names only.
	KubeName bool
}

// Class finds the class called name.
func (f Finder) Class(ctx context.Context, name string) (Class, error) {
	wanted := NameError{Kind: "class", Name: name, Where: f.Scope.String()}
	return one(f.Scope, wanted, func(at cli.Scope) ([]Class, error) { return f.classes(ctx, at, name) }, classNames(ctx, f))
}

// Plan finds the plan called name, which may be CLASS/PLAN, or called so within a
// class, if class is not empty.
func (f Finder) Plan(ctx context.Context, class, name string) (Plan, error) {
	if class == "" {
		within, plan, split := strings.Cut(name, "/")
		// All plans are listed for an error only, which CLASS/PLAN does not end in.
		found, err := f.planAlone(ctx, name, !split)
		if !split || !isNotFound(err) {
			return found, err
		}
		class, name = within, plan
	}
	return f.planIn(ctx, class, name)
}

// planIn finds the plan of a class, in the nearest scope whose class of that name has
// it: a class of the namespace hides no plans of the cluster's.
func (f Finder) planIn(ctx context.Context, class, name string) (Plan, error) {
	var missing *NameError
	for _, at := range f.Scope.Split() {
		found, err := f.classes(ctx, at, class)
		if err != nil {
			return Plan{}, err
		}
		if len(found) == 0 {
			continue
		}
		of, err := pick(found, NameError{Kind: "class", Name: class, Where: at.String()}, nil)
		if err != nil {
			return Plan{}, err
		}
		plan, err := f.PlanOf(ctx, of, name)
		if err == nil || !isNotFound(err) {
			return plan, err
		}
		missing = missing.orOfCluster(err)
	}
	if missing != nil {
		return Plan{}, missing.sorted()
	}
	_, err := f.Class(ctx, class)
	return Plan{}, err
}

// PlanOf finds the plan of a class called name.
func (f Finder) PlanOf(ctx context.Context, class Class, name string) (Plan, error) {
	var all, fit []Plan
	err := Plans(ctx, f.Reader, plansOf(class), func(p Plan) error {
		all = append(all, p)
		if f.fits(p.Object, p.Spec.ExternalName, name) {
			fit = append(fit, p)
		}
		return nil
	})
	if err != nil {
		return Plan{}, err
	}
	wanted := NameError{Kind: "plan", Name: name, Where: "class " + f.nameOf(class.Object, class.Title())}
	if namespace := class.Object.GetNamespace(); namespace != "" {
		wanted.Where += " of " + cli.ScopeOf(namespace).String()
	}
	return pick(fit, wanted, func() ([]string, error) { return planNames(f, all), nil })
}

// PlansOf are the plans of a class.
func PlansOf(ctx context.Context, reader client.Reader, class Class) ([]Plan, error) {
	var all []Plan
	err := Plans(ctx, reader, plansOf(class), func(p Plan) error {
		all = append(all, p)
		return nil
	})
	return all, err
}

// ClassOfPlan reads the class of a plan, which has its scope.
func ClassOfPlan(ctx context.Context, reader client.Reader, plan Plan) (Class, error) {
	object := v1beta1.NewClass(plan.Object.GetNamespace())
	if err := reader.Get(ctx, client.ObjectKey{Namespace: plan.Object.GetNamespace(), Name: plan.ClassName}, object); err != nil {
		return Class{}, err
	}
	class, _ := ClassOf(object)
	return class, nil
}

// Broker finds the broker called name.
func (f Finder) Broker(ctx context.Context, name string) (Broker, error) {
	return one(f.Scope, NameError{Kind: "broker", Name: name, Where: f.Scope.String()}, func(at cli.Scope) ([]Broker, error) {
		return got(ctx, f.Reader, at, name, kind[v1beta1.BrokerObject, Broker]{v1beta1.NewBroker, BrokerOf, Brokers})
	}, func() ([]string, error) {
		var names []string
		err := Brokers(ctx, f.Reader, Query{Scope: f.Scope}, func(b Broker) error {
			names = append(names, b.Object.GetName())
			return nil
		})
		return names, err
	})
}

// Type finds the service type called name.
func (f Finder) Type(ctx context.Context, name string) (Type, error) {
	return one(f.Scope, NameError{Kind: "type", Name: name, Where: f.Scope.String()}, func(at cli.Scope) ([]Type, error) {
		return got(ctx, f.Reader, at, name, kind[v1beta1.TypeObject, Type]{v1beta1.NewType, TypeOf, Types})
	}, func() ([]string, error) {
		var names []string
		err := Types(ctx, f.Reader, Query{Scope: f.Scope}, func(t Type) error {
			names = append(names, t.Object.GetName())
			return nil
		})
		return names, err
	})
}

func (f Finder) planAlone(ctx context.Context, name string, known bool) (Plan, error) {
	wanted := NameError{Kind: "plan", Name: name, Where: f.Scope.String()}
	var fit []Plan
	plan, err := one(f.Scope, wanted, func(at cli.Scope) (_ []Plan, err error) {
		fit, err = f.plans(ctx, at, name)
		return fit, err
	}, func() ([]string, error) {
		var all []Plan
		if !known {
			return nil, nil
		}
		err := Plans(ctx, f.Reader, Query{Scope: f.Scope}, func(p Plan) error {
			all = append(all, p)
			return nil
		})
		return planNames(f, all), err
	})
	if ambiguous, is := errors.AsType[*NameError](err); is && len(fit) > 1 && !f.KubeName {
		ambiguous.Within = f.within(ctx, fit)
	}
	return plan, err
}

// within are plans as CLASS/PLAN, sorted; nil where that does not tell them apart, or a class
// cannot be read.
func (f Finder) within(ctx context.Context, plans []Plan) []string {
	names := map[string]bool{}
	for _, plan := range plans {
		class, err := ClassOfPlan(ctx, f.Reader, plan)
		if err != nil {
			return nil
		}
		names[class.Title()+"/"+plan.Title()] = true
	}
	if len(names) < len(plans) {
		return nil
	}
	return slices.Sorted(maps.Keys(names))
}

// fits says whether a name is one of the object's two.
func (f Finder) fits(object client.Object, externalName, name string) bool {
	return object.GetName() == name || (!f.KubeName && externalName == name)
}

func (f Finder) classes(ctx context.Context, at cli.Scope, name string) ([]Class, error) {
	found, err := got(ctx, f.Reader, at, name, kind[v1beta1.ClassObject, Class]{v1beta1.NewClass, ClassOf, Classes})
	if err != nil || f.KubeName {
		return found, err
	}
	err = Classes(ctx, f.Reader, Query{Scope: at, Fields: client.MatchingFields{v1beta1.FieldExternalName: name}}, func(c Class) error {
		if c.Object.GetName() != name {
			found = append(found, c)
		}
		return nil
	})
	return found, err
}

func (f Finder) plans(ctx context.Context, at cli.Scope, name string) ([]Plan, error) {
	found, err := got(ctx, f.Reader, at, name, kind[v1beta1.PlanObject, Plan]{v1beta1.NewPlan, PlanOf, Plans})
	if err != nil || f.KubeName {
		return found, err
	}
	err = Plans(ctx, f.Reader, Query{Scope: at, Fields: client.MatchingFields{v1beta1.FieldExternalName: name}}, func(p Plan) error {
		if p.Object.GetName() != name {
			found = append(found, p)
		}
		return nil
	})
	return found, err
}
