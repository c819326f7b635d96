package catalog

import (
	"cmp"
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/resolve"
)

// ClassEntry is what package resolve needs to know of a class.
func (c Class) ClassEntry() resolve.ClassEntry { return resolve.ClassFrom(c.Object) }

// PlanEntry is what package resolve needs to know of a plan.
func (p Plan) PlanEntry() resolve.PlanEntry { return resolve.PlanFrom(p.Object) }

// Record is the default that a type records.
func (t Type) Record() resolve.Record { return resolve.RecordFrom(t.Object) }

// EffectivePlans are the plans that an instance gets which asks for a type alone, each in
// its own scope, with the rule that chooses it: of every type and scope the default, else
// the only suggested plan. Of two that claim it none is effective; nor is a namespace's
// suggested plan where the cluster has a default, which an instance there gets. The
// catalog must hold the plans' classes and the types' records.
func EffectivePlans(entries *resolve.Catalog) map[resolve.Ref]resolve.Rule {
	effective := map[resolve.Ref]resolve.Rule{}
	for group, choice := range choices(entries) {
		if choice.Plan.Namespace == group.Namespace {
			effective[choice.Plan.Ref] = choice.Rule
		}
	}
	return effective
}

// EffectivePlansOf are the effective plans among those of a scope (the
// empty namespace is the cluster) and of these types, as EffectivePlans decides. It reads
// no other plans.
func EffectivePlansOf(ctx context.Context, reader client.Reader, namespace string, types ...string) (map[resolve.Ref]resolve.Rule, error) {
	entries, err := OfTypes(ctx, reader, namespace, types...)
	if err == nil {
		err = AddClusterDefaults(ctx, reader, &entries)
	}
	if err != nil {
		return nil, err
	}
	return EffectivePlans(&entries), nil
}

// choices are what an instance gets that asks for a type alone, in every scope that has
// plans of the type: those of a namespace with the cluster's.
func choices(entries *resolve.Catalog) map[resolve.Ref]resolve.Choice {
	chosen, parts := map[resolve.Ref]resolve.Choice{}, byType(entries)
	for group := range parts {
		choice, err := resolve.Plan(resolve.Request{Namespace: group.Namespace, Type: group.Name}, seenFrom(group, parts))
		if err == nil {
			chosen[group] = choice
		}
	}
	return chosen
}

// seenFrom is the part of a catalog that an instance of a scope and type chooses from.
func seenFrom(group resolve.Ref, parts map[resolve.Ref]*resolve.Catalog) resolve.Catalog {
	if cluster := parts[resolve.Ref{Name: group.Name}]; group.Namespaced() && cluster != nil {
		return Joined(parts[group], cluster)
	}
	return *parts[group]
}

// Joined is a namespace's part of a catalog with the cluster's.
func Joined(local, cluster *resolve.Catalog) resolve.Catalog {
	return resolve.Catalog{
		Classes: slices.Concat(local.Classes, cluster.Classes),
		Plans:   slices.Concat(local.Plans, cluster.Plans),
		Records: slices.Concat(local.Records, cluster.Records),
	}
}

// IsSuggestion says that a rule went by a broker's suggestion.
func IsSuggestion(rule resolve.Rule) bool {
	return rule == resolve.RuleNamespaceSuggested || rule == resolve.RuleClusterSuggested || rule == resolve.RuleClassSuggested
}

// byType parts a catalog by scope and effective type.
func byType(entries *resolve.Catalog) map[resolve.Ref]*resolve.Catalog {
	classes := make(map[resolve.Ref]*resolve.ClassEntry, len(entries.Classes))
	for i := range entries.Classes {
		classes[entries.Classes[i].Ref] = &entries.Classes[i]
	}
	parts, placed := map[resolve.Ref]*resolve.Catalog{}, map[[2]resolve.Ref]bool{}
	part := func(group resolve.Ref) *resolve.Catalog {
		if parts[group] == nil {
			parts[group] = &resolve.Catalog{}
		}
		return parts[group]
	}
	for _, plan := range entries.Plans {
		class := classes[resolve.Ref{Namespace: plan.Namespace, Name: plan.Class}]
		if class == nil {
			continue
		}
		group := resolve.Ref{Namespace: plan.Namespace, Name: cmp.Or(plan.Type, class.Type)}
		if group.Name == "" {
			continue
		}
		into := part(group)
		into.Plans = append(into.Plans, plan)
		if at := [2]resolve.Ref{group, class.Ref}; !placed[at] {
			placed[at] = true
			into.Classes = append(into.Classes, *class)
		}
	}
	for _, record := range entries.Records {
		group := resolve.Ref{Namespace: record.Plan.Namespace, Name: record.Type}
		if into := parts[group]; into != nil {
			into.Records = append(into.Records, record)
		}
	}
	return parts
}
