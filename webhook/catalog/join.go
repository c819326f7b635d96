package catalog

import (
	"context"
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

// withNamed adds the plan with a Kubernetes name to the plans of a class: it
// may be of another class, which the denial then names.
func (s Scope) withNamed(ctx context.Context, found Slice, named resolve.Named) (Slice, error) {
	if named.By != resolve.ByName || len(found.Classes) == 0 {
		return found, nil
	}
	return s.WithPlan(ctx, found, named.Value)
}

// WithPlan adds to found the plans with these Kubernetes names, and their
// classes. Any of them may be absent.
func (s Scope) WithPlan(ctx context.Context, found Slice, names ...string) (Slice, error) {
	known := map[string]bool{}
	for _, plan := range found.Plans {
		known[plan.Name] = true
	}
	for _, name := range names {
		if known[name] {
			continue
		}
		known[name] = true
		plans, err := s.Plan(ctx, name)
		if err != nil {
			return Slice{}, err
		}
		found.Plans = append(found.Plans, plans...)
	}
	return s.WithClasses(ctx, found)
}

// WithClasses adds to found, which is of this scope, each class that its plans
// have and that it lacks. Of a plan that two lists had, having changed between
// them, it keeps the first.
func (s Scope) WithClasses(ctx context.Context, found Slice) (Slice, error) {
	classes := make(map[string]bool, len(found.Classes))
	for _, class := range found.Classes {
		classes[class.Name] = true
	}
	plans := make(map[string]bool, len(found.Plans))
	var kept []resolve.PlanEntry
	for _, plan := range found.Plans {
		if plans[plan.Name] {
			continue
		}
		plans[plan.Name] = true
		kept = append(kept, plan)
		if classes[plan.Class] {
			continue
		}
		classes[plan.Class] = true
		class, err := s.Class(ctx, plan.Class)
		if err != nil {
			return Slice{}, err
		}
		found.add(class)
	}
	found.Plans = kept
	return found, nil
}

// Price completes what a target costs by its original in the cluster, wherever a rule asks for
// it. Other rules cost no read.
func Price(ctx context.Context, reader client.Reader, rules []policy.Rule, target *policy.Target) error {
	if target.Original.ExternalID == "" || !policy.AboutCosts(rules) {
		return nil
	}
	plans, err := Scope{Reader: reader}.Plans(ctx, client.MatchingFields{v1beta1.FieldExternalID: target.Original.ExternalID})
	if err != nil {
		return err
	}
	*target = target.PricedBy(plans)
	return nil
}

// Copies are the other plans, of the cluster and of namespaces, that have the ID of a plan of the cluster at
// its broker.
func (s Scope) Copies(ctx context.Context, original *resolve.PlanEntry) ([]resolve.PlanEntry, error) {
	match := client.MatchingFields{v1beta1.FieldExternalID: original.ExternalID}
	copies, err := Scope{Reader: s.Reader}.Plans(ctx, match)
	if err != nil {
		return nil, err
	}
	var list v1beta1.ServicePlanList
	if err := s.List(ctx, &list, match); err != nil {
		return nil, err
	}
	copies = append(copies, Entries(list.Items, PlanEntry)...)
	return slices.DeleteFunc(copies, func(p resolve.PlanEntry) bool { return p.Broker != original.Broker || p.Ref == original.Ref }), nil
}

// withRecords adds to found the records of every type that its plans have, and
// the plans that the records name: a record without its plan does not count.
func (s Scope) withRecords(ctx context.Context, found Slice) (Slice, error) {
	types := map[string]bool{}
	for _, class := range found.Classes {
		types[class.Type] = true
	}
	for _, plan := range found.Plans {
		types[plan.Type] = true
	}
	delete(types, "")
	var recorded []string
	for _, serviceType := range slices.Sorted(maps.Keys(types)) {
		record, err := s.record(ctx, serviceType)
		if err != nil {
			return Slice{}, err
		}
		found.add(record)
		for _, one := range record.Records {
			recorded = append(recorded, one.Plan.Name)
		}
	}
	return s.WithPlan(ctx, found, recorded...)
}
