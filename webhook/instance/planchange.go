package instance

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/restore"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// replan resolves the plan names of the write again, within the decided class.
func (m *mutation) replan(ctx context.Context) error {
	d := m.draft
	was := references.Of(&d.Old.Spec.DecidedReference, d.Req.Namespace)
	choice, denied, err := m.chooseWithin(ctx, was)
	if err != nil {
		return err
	}
	if denied != nil {
		d.Deny(denied)
		return nil
	}
	now := references.Pair{Class: choice.Class.Ref, Plan: choice.Plan.Ref}
	if now.Plan != was.Plan {
		d.Warnf("plan changed from %s to %s; parameters stay as they are, no default is applied again", was.Plan.Name, cmp.Or(choice.Plan.ExternalName, choice.Plan.Name))
		d.Audit("plan-change", was.Plan.Name+" to "+now.Plan.Name)
		// Defaults that were merged before and still exist stay in the record: none is merged again.
		applied := earlierRecord(d.Annotations, d.Old.Metadata.Annotations)
		parameters.RecordChoice(&applied, string(choice.Rule), &choice.Class, &choice.Plan)
		d.Annotations[v1beta1.AnnotationAppliedDefaults] = applied.String()
		defined, err := m.tools.Resolver.Catalog.DefineChoice(ctx, &choice)
		if err != nil {
			return err
		}
		if defined != nil {
			d.PreventDeletion(defined)
		}
	}
	given := d.New.Spec.DecidedReference
	now.Set(&d.Spec.DecidedReference)
	d.Deny(referenceChange(references.Changed(&given, &d.Old.Spec.DecidedReference, &d.Spec.DecidedReference)))
	return nil
}

// chooseWithin resolves the new names that the write gives, or denies them; what it does not name
// stays as decided, even if it was renamed.
func (m *mutation) chooseWithin(ctx context.Context, was references.Pair) (resolve.Choice, *review.Denial, error) {
	newClass, newPlan := renames(m.draft.Write, restore.WithClass), renames(m.draft.Write, restore.WithPlan)
	namespaced := was.Plan.Namespaced()
	var choice resolve.Choice
	req, err := resolve.RequestFor(&m.draft.Spec.PlanReference, m.draft.Req.Namespace, m.draft.Seed())
	switch {
	case err != nil:
	case req.Plan.Value != "" && req.Namespaced != namespaced:
		err = &resolve.Error{
			Reason: resolve.InvalidReference, Field: "spec", Value: req.Plan.Value,
			Detail: "the plan is of another scope than the class that was decided",
		}
	case newClass && req.Namespaced != namespaced:
		return choice, review.Invalid("ClassChange", "spec", "the class cannot change to one of another scope once it is decided").
			Remedy(anotherInstance), nil
	default:
		if !newClass {
			req.Class, req.ClassDecided, req.Namespaced = resolve.Named{By: resolve.ByName, Value: was.Class.Name}, true, namespaced
		}
		if !newPlan {
			req.Plan = resolve.Named{By: resolve.ByName, Value: was.Plan.Name}
		}
		req.Type = m.draft.Spec.ServiceType
		choice, err = m.tools.Resolver.Resolve(ctx, req)
	}
	refused, ok := errors.AsType[*resolve.Error](err)
	switch {
	case ok && refused.Reason == resolve.ClassMismatch && newClass:
		return choice, classChange(was.Class.Name, refused.Class), nil
	case ok:
		return choice, decision.Unresolved(refused, resolve.Request{Namespace: m.draft.Req.Namespace, Namespaced: namespaced}), nil
	case err == nil && choice.Class.Ref != was.Class:
		return choice, classChange(was.Class.Name, choice.Class.Name), nil
	}
	return choice, nil, err
}

// referenceChange denies a reference that the write changes by hand: it is neither what it was
// nor what it is to be. field is its path, empty where there is none.
func referenceChange(field string) *review.Denial {
	if field == "" {
		return nil
	}
	return review.Invalid("ReferenceChange", field, "it is decided at admission and cannot be edited").
		Remedy("to change the plan, name it: spec.clusterServicePlanExternalName or another of its names")
}

// anotherInstance is the way to another class.
const anotherInstance = "create another instance of the other class"

// classChange refuses another class than the decided one.
func classChange(was, now string) *review.Denial {
	return review.Invalid("ClassChange", "spec", "the class cannot change from %q to %q once it is decided", was, now).
		Remedy(anotherInstance)
}

// planFixed refuses to leave the plan d for another of its class. The plan that
// the instance has says whether, and where it says nothing, or is absent (d is
// nil), the class.
func planFixed(d, now *catalog.Definition) *review.Denial {
	who, updatable := fmt.Sprintf("class %q", cmp.Or(now.Class.ExternalName, now.Class.Name)), now.ClassSpec.PlanUpdatable
	if d != nil && d.PlanSpec.PlanUpdatable != nil {
		who, updatable = "plan "+d.Title(), *d.PlanSpec.PlanUpdatable
	}
	if updatable {
		return nil
	}
	return review.Invalid("PlanNotUpdatable", "spec", "%s does not allow an instance to change its plan", who).
		Remedy("create another instance with plan %s", now.Title())
}
