package keeper

import (
	"context"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

func (r *recorder) typeChanged(_ context.Context, q queue[errand], versions ...client.Object) {
	q.AddAfter(typeOf(versions[0].GetNamespace(), versions[0].GetName()), atOnce)
}

// planChanged has the types of a plan looked at: at once if it is or claims to be
// a default. The others only count, and there may be ten thousand of them.
func (r *recorder) planChanged(ctx context.Context, q queue[errand], versions ...client.Object) {
	for _, plan := range different(versions, planEntryOf) {
		e, when := typeOf(plan.Namespace, plan.Type), soon
		if plan.Type == "" {
			e = classOf(plan.Namespace, plan.Class)
		}
		if plan.Default || r.matters(ctx, &plan) {
			when = atOnce
		}
		q.AddAfter(e, when)
	}
}

// matters says that a plan is the recorded default of its own type, or the first of
// that type; in doubt it does.
func (r *recorder) matters(ctx context.Context, plan *resolve.PlanEntry) bool {
	if plan.Type == "" {
		return false
	}
	s := scope{reader: r.options.Client, namespace: plan.Namespace}
	kept, err := s.typeObject(ctx, client.ObjectKey{Namespace: plan.Namespace, Name: plan.Type})
	return err != nil || !kept.there() || kept.recorded() == plan.Name
}

// classChanged has the types looked at that a class is or was of, and those of
// its plans, none of which can be chosen without it.
func (r *recorder) classChanged(_ context.Context, q queue[errand], versions ...client.Object) {
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

// spread has the types looked at that hang on a class: its own, those of its
// plans, and, where it is gone or has no type, those whose record may name a plan
// that nothing else connects with them any more.
func (r *recorder) spread(ctx context.Context, at client.ObjectKey) error {
	s := scope{reader: r.options.Client, namespace: at.Namespace}
	classes, err := s.class(ctx, at.Name)
	if err != nil {
		return err
	}
	plans, err := s.plansOf(ctx, at.Name)
	if err != nil {
		return err
	}
	found := map[string]bool{}
	for i := range plans {
		found[plans[i].Type] = true
	}
	for i := range classes {
		found[classes[i].Type] = true
	}
	if len(classes) == 0 || classes[0].Type == "" {
		if err := s.eachType(ctx, func(t typeObject) { found[t.GetName()] = found[t.GetName()] || t.recorded() != "" }); err != nil {
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
