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
	return classKind.find(ctx, f, name)
}

// Broker finds the broker called name.
func (f Finder) Broker(ctx context.Context, name string) (Broker, error) {
	return brokerKind.find(ctx, f, name)
}

// Type finds the service type called name.
func (f Finder) Type(ctx context.Context, name string) (Type, error) {
	return typeKind.find(ctx, f, name)
}

// Plan finds the plan called name, which may be CLASS/PLAN, or called so within a
// class, if class is not empty.
func (f Finder) Plan(ctx context.Context, class, name string) (Plan, error) {
	if class == "" {
		within, plan, split := strings.Cut(name, "/")
		// All plans are listed for an error only, which CLASS/PLAN does not end in.
		found, err := f.planAlone(ctx, name, !split)
		if !split || !IsNotFound(err) {
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
		found, err := classKind.called(ctx, f, at, class)
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
		if err == nil || !IsNotFound(err) {
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
	all, err := PlansOf(ctx, f.Reader, class)
	if err != nil {
		return Plan{}, err
	}
	var fit []Plan
	for _, plan := range all {
		if plan.Object.GetName() == name || !f.KubeName && plan.Spec.ExternalName == name {
			fit = append(fit, plan)
		}
	}
	wanted := NameError{Kind: "plan", Name: name, Where: "class " + nameOf(f, class)}
	namespace := class.Object.GetNamespace()
	wanted.Where += v1beta1.PerScope(namespace, "", " of "+cli.ScopeOf(namespace).String())
	return pick(fit, wanted, func() ([]string, error) { return namesOf(f, all), nil })
}

// planAlone finds a plan by its name only; known says that its error lists all plans.
func (f Finder) planAlone(ctx context.Context, name string, known bool) (Plan, error) {
	names := func() ([]string, error) { return nil, nil }
	if known {
		names = planKind.known(ctx, f)
	}
	var fit []Plan
	plan, err := one(f.Scope, NameError{Kind: planKind.word, Name: name, Where: f.Scope.String()}, func(at cli.Scope) (_ []Plan, err error) {
		fit, err = planKind.called(ctx, f, at, name)
		return fit, err
	}, names)
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

// PlansOf are the plans of a class.
func PlansOf(ctx context.Context, reader client.Reader, class Class) ([]Plan, error) {
	return All(ctx, reader, plansOf(class), Plans)
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
