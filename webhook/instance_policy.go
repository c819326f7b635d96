package webhook

import (
	"context"
	"fmt"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

// judgePolicies evaluates the policies for a plan that is new to the instance.
func (v *instanceValidation) judgePolicies(ctx context.Context, seen view) error {
	if v.defined == nil || v.now.plan == v.was.plan {
		return nil
	}
	target := policy.TargetOf(v.defined.Class, v.defined.Plan)
	refusal, err := seen.policy(ctx, &target, v.Req.Namespace)
	if err != nil {
		return fmt.Errorf("cannot hold the plan against the policies: %w", err)
	}
	if refusal != nil {
		refused := policyError{Refusal: refusal, subject: "plan " + v.defined.title(), namespace: v.Req.Namespace}
		v.Deny(refused.denial(v.askedField()))
		return nil
	}
	return v.judgeQuota(ctx, seen)
}

// askedField is the field of spec that asks for the plan.
func (v *instanceValidation) askedField() string {
	return askedFieldOf(appliedOf(v.New.Metadata.Annotations).Rule, v.New.Spec)
}

// askedFieldOf is the field of a spec that asks for the plan which a rule chose.
func askedFieldOf(rule string, spec *v1beta1.ServiceInstanceSpec) string {
	when := keptWithPlan
	switch resolve.Rule(rule) {
	case resolve.RuleSelector:
		return "spec.planSelector"
	case resolve.RuleOnlyPlan, resolve.RuleClassDefault, resolve.RuleClassSuggested:
		when = keptWithClass
	default:
	}
	for _, field := range keptFields {
		if field.when == when && field.value(spec) != nil {
			return "spec." + field.name
		}
	}
	return "spec.serviceType"
}
