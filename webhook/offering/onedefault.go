package offering

import (
	"cmp"
	"context"

	"k8s.io/component-base/featuregate"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/access"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/options"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// oneDefault validates writes that make a plan a default, or stop it from being
// one: there is one default per type and scope, and changing it requires
// permission to update the type's object. It only checks; the keeper records
// the default. All reads are live, because another default may just have been
// stored.
type oneDefault struct {
	live   client.Reader
	access access.Rights
	gates  featuregate.FeatureGate
}

// validatePlan validates a write of a plan; old is nil for a new one. Writes that
// change neither its annotation nor its effective type pass, and so do writes
// of a plan that is being deleted.
func (o *oneDefault) validatePlan(ctx context.Context, req *admission.Request, old, changed client.Object) (review.Result, error) {
	if !o.gates.Enabled(options.ServiceTypes) || changed.GetDeletionTimestamp() != nil {
		return review.Result{}, nil
	}
	after, before := planOf(changed), resolve.PlanEntry{}
	if old != nil {
		before = planOf(old)
	}
	if before.Default == after.Default && (old == nil || before.Type == after.Type) {
		return review.Result{}, nil
	}
	at := catalog.Scope{Reader: o.live, Namespace: req.Namespace}
	class, err := classOf(ctx, at, after.Class)
	if err != nil {
		return review.Result{}, err
	}
	if old != nil && after.Default && !before.Default && after.Type == "" && class.Name == "" {
		return review.Result{Denied: refuseClassless(req)}, nil
	}
	change := &defaultChange{
		req: req, at: at, class: class, was: cmp.Or(before.Type, class.Type), now: cmp.Or(after.Type, class.Type), field: typeField,
		plans: []turn{{PlanEntry: after, annotated: before.Default, fresh: old == nil}},
	}
	if before.Default != after.Default {
		change.field = annotationField
	}
	return o.validate(ctx, change)
}

// validateClass validates a write of a class; old is nil for a new one. A change
// of its type changes the type of its plans that have none of their own.
func (o *oneDefault) validateClass(ctx context.Context, req *admission.Request, old, changed client.Object) (review.Result, error) {
	if !o.gates.Enabled(options.ServiceTypes) || changed.GetDeletionTimestamp() != nil {
		return review.Result{}, nil
	}
	after, before := classEntryOf(changed), resolve.ClassEntry{}
	if old != nil {
		before = classEntryOf(old)
	}
	if before.Type == after.Type {
		return review.Result{}, nil
	}
	change := &defaultChange{
		req: req, at: catalog.Scope{Reader: o.live, Namespace: req.Namespace}, class: after, was: before.Type, now: after.Type, field: typeField,
	}
	found, err := change.at.PlansOf(ctx, after.Name)
	if err != nil {
		return review.Result{}, err
	}
	var others []string
	for _, plan := range found.Plans {
		switch plan.Type {
		case "":
			change.plans = append(change.plans, turn{PlanEntry: plan, annotated: plan.Default})
		case after.Type:
		default:
			others = append(others, cmp.Or(plan.ExternalName, plan.Name))
		}
	}
	decided, err := o.validate(ctx, change)
	if class := cmp.Or(after.ExternalName, after.Name); err == nil && decided.Denied == nil && len(others) > 0 {
		decided.Warnf("plans of class %s that have a type of their own keep it: %s; to change it: svcat set plan %s/PLAN --type TYPE", class, listSome(others), class)
	}
	return decided, err
}

// classOf reads a class, the empty entry if it does not exist: its plans may be
// created before it.
func classOf(ctx context.Context, at catalog.Scope, name string) (resolve.ClassEntry, error) {
	found, err := at.Class(ctx, name)
	if err != nil || len(found.Classes) == 0 {
		return resolve.ClassEntry{}, err
	}
	return found.Classes[0], nil
}

func planOf(object client.Object) resolve.PlanEntry {
	if plan, ok := object.(v1beta1.PlanObject); ok {
		return catalog.PlanEntry(plan)
	}
	return resolve.PlanEntry{}
}

func classEntryOf(object client.Object) resolve.ClassEntry {
	if class, ok := object.(v1beta1.ClassObject); ok {
		return catalog.ClassEntry(class)
	}
	return resolve.ClassEntry{}
}
