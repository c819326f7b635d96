package instance

import (
	"context"
	"fmt"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/policies"
	"github.com/defaultplan/defaultplan/webhook/restore"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// refusePolicies evaluates the policies for a plan that is new to the instance.
func (c *PlanCheck) refusePolicies(ctx context.Context, seen view, defined *catalog.Definition) (*review.Denial, error) {
	target, namespace := policy.TargetOf(defined.Class, defined.Plan), c.Write.Req.Namespace
	refusal, err := seen.policy(ctx, &target, namespace)
	if err != nil {
		return nil, fmt.Errorf("cannot hold the plan against the policies: %w", err)
	}
	if refusal == nil {
		return nil, nil
	}
	refused := policies.RefusedError{Refusal: refusal, Subject: "plan " + defined.Title(), Namespace: namespace}
	return refused.Denial(c.AskedField()), nil
}

// AskedField is the field of spec that asks for the plan.
func (c *PlanCheck) AskedField() string {
	return AskedFieldOf(parameters.Applied(c.Write.New.Metadata.Annotations).Rule, c.Write.New.Spec)
}

// AskedFieldOf is the field of a spec that asks for the plan which a rule chose.
func AskedFieldOf(rule string, spec *v1beta1.ServiceInstanceSpec) string {
	when := restore.WithPlan
	switch chose := resolve.Rule(rule); {
	case chose == resolve.RuleSelector:
		return "spec.planSelector"
	case isByClass(chose):
		when = restore.WithClass
	}
	for _, field := range keptFields {
		if field.When == when && field.Value(spec) != nil {
			return "spec." + field.Name
		}
	}
	return "spec.serviceType"
}
