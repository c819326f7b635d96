package defaults

import (
	"context"

	"github.com/defaultplan/defaultplan/webhook/catalog"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
)

// dependents are the types that depend on a plan or a class, found in the cache.
type dependents struct{ reader client.Reader }

func typeChanged(_ context.Context, q controller.Queue[workItem], versions ...client.Object) {
	q.AddAfter(typeOf(versions[0].GetNamespace(), versions[0].GetName()), atOnce)
}

// planChanged enqueues the types of a plan: at once if it is or claims to be a
// default. The others only change counts, and there may be ten thousand of
// them.
func (d dependents) planChanged(ctx context.Context, q controller.Queue[workItem], versions ...client.Object) {
	for _, plan := range different(versions, planEntryOf) {
		w, when := typeOf(plan.Namespace, plan.Type), soon
		if plan.Type == "" {
			w = classOf(plan.Namespace, plan.Class)
		}
		if plan.Default || d.matters(ctx, &plan) {
			when = atOnce
		}
		q.AddAfter(w, when)
	}
}

// matters says whether a plan is the recorded default of its own type, or the
// first of that type; in doubt it is true.
func (d dependents) matters(ctx context.Context, plan *resolve.PlanEntry) bool {
	if plan.Type == "" {
		return false
	}
	s := catalog.Scope{Reader: d.reader, Namespace: plan.Namespace}
	kept, err := readType(ctx, s, plan.Type)
	return err != nil || !kept.there() || kept.recorded() == plan.Name
}

// classChanged enqueues the former and current type of a class, and the types
// of its plans, none of which can be chosen without it.
func classChanged(_ context.Context, q controller.Queue[workItem], versions ...client.Object) {
	for _, class := range different(versions, classEntryOf) {
		if class.Type != "" {
			q.AddAfter(typeOf(class.Namespace, class.Type), atOnce)
		}
		q.AddAfter(classOf(class.Namespace, class.Name), atOnce)
	}
}

// different are the versions as resolve sees them; none if it sees two that are
// alike, as most updates are.
func different[E any](versions []client.Object, entry func(client.Object) E) []E {
	seen := make([]E, len(versions))
	for i, version := range versions {
		seen[i] = entry(version)
	}
	if len(seen) == 2 && apiequality.Semantic.DeepEqual(seen[0], seen[1]) {
		return nil
	}
	return seen
}

func planEntryOf(object client.Object) resolve.PlanEntry {
	if plan, is := object.(v1beta1.PlanObject); is {
		return resolve.PlanFrom(plan)
	}
	return resolve.PlanEntry{}
}

func classEntryOf(object client.Object) resolve.ClassEntry {
	if class, is := object.(v1beta1.ClassObject); is {
		return resolve.ClassFrom(class)
	}
	return resolve.ClassEntry{}
}

// spread enqueues the types that depend on a class: its own, those of its
// plans, and, if it is gone or has no type, those whose record may name a plan
// that no other event relates to them.
func (d dependents) spread(ctx context.Context, q controller.Queue[workItem], at client.ObjectKey) error {
	s := catalog.Scope{Reader: d.reader, Namespace: at.Namespace}
	classes, err := s.Class(ctx, at.Name)
	if err != nil {
		return err
	}
	plans, err := s.PlansOf(ctx, at.Name)
	if err != nil {
		return err
	}
	found := map[string]bool{}
	for i := range plans.Plans {
		found[plans.Plans[i].Type] = true
	}
	for i := range classes.Classes {
		found[classes.Classes[i].Type] = true
	}
	if len(classes.Classes) == 0 || classes.Classes[0].Type == "" {
		types, err := s.TypeObjects(ctx)
		if err != nil {
			return err
		}
		for _, t := range types {
			found[t.GetName()] = found[t.GetName()] || typeObject{t}.recorded() != ""
		}
	}
	for name, is := range found {
		if is && name != "" {
			q.AddAfter(typeOf(at.Namespace, name), atOnce)
		}
	}
	return nil
}
