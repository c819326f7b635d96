package policies

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// Validator validates policies of both kinds: what cannot be
// compiled is denied, and what selects nothing now causes a warning only,
// because a match may be created later.
type Validator struct {
	cached, live client.Reader
}

// NewValidator returns the admission of policies.
func NewValidator(found *catalog.Catalog) *Validator {
	return &Validator{cached: found.Cached, live: found.Live}
}

// policySpec reads the spec of a policy of either kind: that of a binding policy
// has everything that the other has.
type policySpec = v1beta1.BindingPolicySpec

// Validate validates a spec that is new or changed.
func (p *Validator) Validate(ctx context.Context, req *admission.Request) (review.Result, error) {
	decided := review.Result{Rule: review.RuleNone}
	write, wrong := review.Decode[policySpec, struct{}](req)
	if wrong != nil {
		decided.Deny(wrong.Denial(req.Resource.Resource))
		return decided, nil
	}
	old := write.Before()
	if write.New.Deleting() || equality.Semantic.DeepEqual(old, write.New.Spec) {
		return decided, nil
	}
	compile := compiler(req.Kind.Kind)
	if decided.Denied = unreadablePolicy(compile(write.New.Spec), compile(old), req); decided.Denied != nil {
		return decided, nil
	}
	review.WarnInTime(ctx, func(ctx context.Context) error {
		told, err := p.idle(ctx, write.New.Spec)
		for _, text := range told {
			decided.Warnf("%s", text)
		}
		return err
	})
	return decided, nil
}

// compiler finds the faults of a spec as a policy of that kind.
func compiler(kind string) func(*policySpec) []policy.Fault {
	return func(spec *policySpec) []policy.Fault {
		_, err := compiled(kind, spec)
		if faulty, ok := errors.AsType[*policy.Error](err); ok {
			return faulty.Faults
		}
		return nil
	}
}

func compiled(kind string, spec *policySpec) (policy.Rule, error) {
	if kind == policy.KindBinding {
		return policy.FromBinding(&v1beta1.BindingPolicy{Spec: *spec})
	}
	subjects := make([]v1beta1.PolicySubject, len(spec.Subjects))
	for i := range spec.Subjects {
		subjects[i].PlanSubject = spec.Subjects[i].PlanSubject
	}
	return policy.FromProvisioning(&v1beta1.ProvisioningPolicy{Spec: v1beta1.ProvisioningPolicySpec{PolicyRule: spec.PolicyRule, Subjects: subjects}})
}

// unreadablePolicy denies each fault that the policy did not have before.
func unreadablePolicy(faults, before []policy.Fault, req *admission.Request) *review.Denial {
	var denied *review.Denial
	for _, fault := range faults {
		if !slices.Contains(before, fault) {
			denied = denied.Also(review.Invalid("UnreadablePolicy", fault.Field, "%s", fault.Detail))
		}
	}
	if denied == nil {
		return nil
	}
	return denied.Remedy("kubectl explain %s.spec", req.Resource.Resource)
}
