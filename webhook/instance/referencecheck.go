package instance

import (
	"context"
	"reflect"

	"k8s.io/component-base/featuregate"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/restore"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// A referenceCheck validates the references of a write to class and plan, and the names beside
// them.
type referenceCheck struct {
	write    *Write
	was, now references.Pair
	gates    featuregate.FeatureGate
	seen     view
	// defined is the plan of now, nil if there is none.
	defined *catalog.Definition
}

// refuse denies names and references that are new or changed.
func (c *referenceCheck) refuse(ctx context.Context) (*review.Denial, error) {
	old, spec := c.write.Before(), c.write.New.Spec
	switch {
	case c.write.Old == nil:
		return c.refuseNew(), nil
	case !old.Decided() && c.now.Plan.Name == "":
		return nil, nil
	case !old.Decided():
		return disagreement(spec, c.now, c.defined, c.gates), nil
	case c.now != c.was:
		return c.refuseChange(ctx)
	case spec.PlanReference != old.PlanReference:
		return disagreement(c.changedNames(), c.now, c.defined, c.gates), nil
	}
	return nil, nil
}

// refuseNew denies references of a new instance that admission did not decide.
func (c *referenceCheck) refuseNew() *review.Denial {
	switch {
	case c.now.Empty():
		return nil
	case c.write.New.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] == "":
		return references.Forged(&c.write.New.Spec.DecidedReference)
	}
	return disagreement(c.write.New.Spec, c.now, c.defined, c.gates)
}

// changedNames is the spec without unchanged names.
func (c *referenceCheck) changedNames() *v1beta1.ServiceInstanceSpec {
	return changedNames(c.write.New.Spec, c.write.Old.Spec, c.now.Class == c.was.Class, c.now.Plan == c.was.Plan)
}

// changedNames is a spec without the names that are as in the old one, of a class or a plan that is
// the same as before: a broker may have renamed what they refer to since.
func changedNames(spec, old *v1beta1.ServiceInstanceSpec, sameClass, samePlan bool) *v1beta1.ServiceInstanceSpec {
	seen := *spec
	for _, field := range keptFields {
		same := field.When == restore.WithClass && sameClass || field.When == restore.WithPlan && samePlan
		if same && reflect.DeepEqual(field.Value(&seen), field.Value(old)) {
			field.Copy(&seen, &v1beta1.ServiceInstanceSpec{})
		}
	}
	return &seen
}

// refuseChange denies references that changed to what they may not.
func (c *referenceCheck) refuseChange(ctx context.Context) (*review.Denial, error) {
	if denied := disagreement(c.changedNames(), c.now, c.defined, c.gates); denied != nil {
		return denied, nil
	}
	before, err := c.seen.define(ctx, c.was.Plan)
	if err != nil {
		return nil, err
	}
	old, spec := c.write.Old, c.write.New.Spec
	switch {
	case before.Gone() && !old.Status.started():
		return nil, nil
	case c.now.Class != c.was.Class:
		return classChange(c.was.Class.Name, c.now.Class.Name), nil
	case spec.PlanReference == old.Spec.PlanReference:
		return referenceChange("spec." + changedField(spec)), nil
	}
	return c.refusePlanChange(ctx, before)
}

// refusePlanChange denies a change from a plan that is not updatable: the plan
// that the instance has at the broker, if status records it, otherwise the
// previously decided one. A change back to the current plan is allowed. The
// controller applies the same rule.
func (c *referenceCheck) refusePlanChange(ctx context.Context, before *catalog.Definition) (*review.Denial, error) {
	switch has := c.write.Old.Status.planInForce(); has {
	case "":
	case c.defined.Plan.ExternalID:
		return nil, nil
	default:
		var err error
		if before, err = c.seen.inForce(ctx, c.was.Class, has); err != nil {
			return nil, err
		}
	}
	return planFixed(before, c.defined), nil
}

func changedField(spec *v1beta1.ServiceInstanceSpec) string {
	if spec.ServicePlanRef != nil && spec.ServicePlanRef.Name != "" {
		return "servicePlanRef"
	}
	return "clusterServicePlanRef"
}
