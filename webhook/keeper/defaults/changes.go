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

func (r *defaultRecorder) typeChanged(_ context.Context, q controller.Queue[workItem], versions ...client.Object) {
	q.AddAfter(typeOf(versions[0].GetNamespace(), versions[0].GetName()), atOnce)
}

// planChanged enqueues the types of a plan: at once if it is or claims to be a
// default. The others only change counts, and there may be ten thousand of
// them.
func (r *defaultRecorder) planChanged(ctx context.Context, q controller.Queue[workItem], versions ...client.Object) {
	for _, plan := range different(versions, planEntryOf) {
		w, when := typeOf(plan.Namespace, plan.Type), soon
		if plan.Type == "" {
			w = classOf(plan.Namespace, plan.Class)
		}
		if plan.Default || r.matters(ctx, &plan) {
			when = atOnce
		}
		q.AddAfter(w, when)
	}
}

// matters says whether a plan is the recorded default of its own type, or the
// first of that type; in doubt it is true.
func (r *defaultRecorder) matters(ctx context.Context, plan *resolve.PlanEntry) bool {
	if plan.Type == "" {
		return false
	}
	s := catalog.Scope{Reader: r.options.Client, Namespace: plan.Namespace}
	kept, err := readType(ctx, s, client.ObjectKey{Namespace: plan.Namespace, Name: plan.Type})
	return err != nil || !kept.there() || kept.recorded() == plan.Name
}

// classChanged enqueues the former and current type of a class, and the types
// of its plans, none of which can be chosen without it.
func (r *defaultRecorder) classChanged(_ context.Context, q controller.Queue[workItem], versions ...client.Object) {
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
	switch p := object.(type) {
	case *v1beta1.ClusterServicePlan:
		return resolve.PlanFrom(p)
	case *v1beta1.ServicePlan:
		return resolve.PlanFrom(p)
	}
	return resolve.PlanEntry{}
}

func classEntryOf(object client.Object) resolve.ClassEntry {
	switch c := object.(type) {
	case *v1beta1.ClusterServiceClass:
		return resolve.ClassFrom(c)
	case *v1beta1.ServiceClass:
		return resolve.ClassFrom(c)
	}
	return resolve.ClassEntry{}
}

// spread enqueues the types that depend on a class: its own, those of its
// plans, and, if it is gone or has no type, those whose record may name a plan
// that no other event relates to them.
func (r *defaultRecorder) spread(ctx context.Context, at client.ObjectKey) error {
	s := catalog.Scope{Reader: r.options.Client, Namespace: at.Namespace}
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
		if err := eachType(ctx, s, func(t typeObject) { found[t.GetName()] = found[t.GetName()] || t.recorded() != "" }); err != nil {
			return err
		}
	}
	for name, is := range found {
		if is && name != "" {
			r.enqueue(typeOf(at.Namespace, name), atOnce)
		}
	}
	return nil
}
