package instance

import (
	"context"
	"fmt"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/policies"
	"github.com/defaultplan/defaultplan/webhook/restore"
)

// validatePolicies evaluates the policies for a plan that is new to the instance.
func (v *Validation) validatePolicies(ctx context.Context, seen view) error {
	if v.Defined == nil || v.Now.Plan == v.was.Plan {
		return nil
	}
	target := policy.TargetOf(v.Defined.Class, v.Defined.Plan)
	refusal, err := seen.policy(ctx, &target, v.Req.Namespace)
	if err != nil {
		return fmt.Errorf("cannot hold the plan against the policies: %w", err)
	}
	if refusal != nil {
		refused := policies.RefusedError{Refusal: refusal, Subject: "plan " + v.Defined.Title(), Namespace: v.Req.Namespace}
		v.Deny(refused.Denial(v.AskedField()))
		return nil
	}
	return v.validateQuota(ctx, seen)
}

// AskedField is the field of spec that asks for the plan.
func (v *Validation) AskedField() string {
	return AskedFieldOf(parameters.Applied(v.New.Metadata.Annotations).Rule, v.New.Spec)
}

// AskedFieldOf is the field of a spec that asks for the plan which a rule chose.
func AskedFieldOf(rule string, spec *v1beta1.ServiceInstanceSpec) string {
	when := restore.WithPlan
	switch resolve.Rule(rule) {
	case resolve.RuleSelector:
		return "spec.planSelector"
	case resolve.RuleOnlyPlan, resolve.RuleClassDefault, resolve.RuleClassSuggested:
		when = restore.WithClass
	default:
	}
	for _, field := range keptFields {
		if field.When == when && field.Value(spec) != nil {
			return "spec." + field.Name
		}
	}
	return "spec.serviceType"
}
