package simulation

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/simulation/world"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

// asked collects questions: the namespaces by type.
type asked struct {
	*comparison

	of map[string]map[string]bool
	// spaces are all namespaces, once they were asked for.
	spaces []string
}

func (a *asked) add(types, namespaces []string) {
	for _, serviceType := range types {
		if serviceType == "" || len(a.of[serviceType]) == len(a.everywhere()) {
			continue
		}
		if a.of[serviceType] == nil {
			a.of[serviceType] = map[string]bool{}
		}
		for _, namespace := range namespaces {
			a.of[serviceType][namespace] = true
		}
	}
}

// because adds what a change of an object may make different.
func (a *asked) because(change *world.Change) {
	for _, of := range []struct {
		in     *side
		object any
	}{{a.now, change.Before}, {a.then, change.After}} {
		switch o := of.object.(type) {
		case v1beta1.PlanObject:
			plan := resolve.PlanFrom(o)
			a.add([]string{of.in.typeOf(&plan)}, a.within(change.Namespace))
			for _, copied := range of.in.copiesOf(&plan) {
				a.add([]string{of.in.typeOf(copied)}, a.within(copied.Namespace))
			}
		case v1beta1.ClassObject:
			class := resolve.ClassFrom(o)
			a.add(append(a.typesOf(class.Ref), class.Type), a.within(change.Namespace))
		case v1beta1.TypeObject:
			a.add([]string{change.Name}, a.within(change.Namespace))
		case *v1beta1.ProvisioningPolicy:
			a.ruled(o)
		case *corev1.Namespace:
			a.add(a.all(), []string{o.Name})
		}
	}
}

// within are the namespaces of a scope: that of an object, or all.
func (a *asked) within(namespace string) []string {
	all := a.everywhere()
	if _, is := slices.BinarySearch(all, namespace); is {
		return []string{namespace}
	}
	return all
}

// everywhere are all namespaces, sorted. Where none is known, one stands for all.
func (a *asked) everywhere() []string {
	if a.spaces != nil {
		return a.spaces
	}
	all := maps.Clone(a.now.spaces)
	maps.Copy(all, a.then.spaces)
	if len(all) == 0 {
		all[corev1.NamespaceDefault] = nil
	}
	a.spaces = slices.Sorted(maps.Keys(all))
	return a.spaces
}

// all are all types.
func (a *asked) all() []string {
	found := map[string]bool{}
	for _, s := range []*side{a.now, a.then} {
		for _, plan := range s.plans {
			found[s.typeOf(plan)] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// typesOf are the types of the plans of a class.
func (a *asked) typesOf(class resolve.Ref) []string {
	var types []string
	for _, s := range []*side{a.now, a.then} {
		for _, plan := range s.plans {
			if plan.Namespace == class.Namespace && plan.Class == class.Name {
				types = append(types, s.typeOf(plan))
			}
		}
	}
	return types
}

// ruled adds the types of the plans that a policy selects, in all namespaces: one that allows plans in
// some refuses them elsewhere. What a namespace has of its own matters there alone: its users may make
// thousands of types.
func (a *asked) ruled(p *v1beta1.ProvisioningPolicy) {
	rule, err := policy.FromProvisioning(p)
	if err != nil {
		return // it has no effect
	}
	for _, s := range []*side{a.now, a.then} {
		for ref, plan := range s.plans {
			if rule.Selects(s.target(ref)) {
				a.add([]string{s.typeOf(plan)}, a.within(plan.Namespace))
			}
		}
	}
}
