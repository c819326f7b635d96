package policies

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

// ReasonDenied is the reason of what a policy denies, the same as in
// admission's denials.
const ReasonDenied = "PolicyDenied"

// Rules evaluates ProvisioningPolicies and BindingPolicies by the cache.
// Admission evaluated them for the class and plan that it decided. A user who
// may write classes and plans may have replaced these since, so the controller
// evaluates the policies again for the objects that a request is built from,
// before its intent is stored.
type Rules struct {
	// Cached reads from the cache. Live finds the plans of namespaces by their IDs, as they
	// are now.
	Cached, Live client.Reader
}

// rules are the policies that deny or allow. Those that cannot be compiled have no effect, here as everywhere.
func (p *Rules) rules(ctx context.Context) ([]policy.Rule, error) {
	var list v1beta1.ProvisioningPolicyList
	if err := p.Cached.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("cannot list the ProvisioningPolicies: %w", err)
	}
	var rules []policy.Rule
	for i := range list.Items {
		if rule, err := policy.FromProvisioning(&list.Items[i]); err == nil && !rule.OnlyLimits {
			rules = append(rules, rule)
		}
	}
	return rules, nil
}

// bindingRules are those of both kinds of policies: a ProvisioningPolicy holds for bindings, too.
func (p *Rules) bindingRules(ctx context.Context) ([]policy.Rule, error) {
	rules, err := p.rules(ctx)
	if err != nil {
		return nil, err
	}
	var list v1beta1.BindingPolicyList
	if err := p.Cached.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("cannot list the BindingPolicies: %w", err)
	}
	for i := range list.Items {
		if rule, err := policy.FromBinding(&list.Items[i]); err == nil {
			rules = append(rules, rule)
		}
	}
	return rules, nil
}

// refuses says which of the rules deny a target in a namespace. The namespace
// is only read if a rule selects the target.
func (p *Rules) refuses(ctx context.Context, rules []policy.Rule, target *policy.Target, namespace string) (*policy.Refusal, error) {
	if err := price(ctx, p.Cached, rules, target); err != nil {
		return nil, err
	}
	selecting := slices.DeleteFunc(slices.Clone(rules), func(r policy.Rule) bool { return !r.Selects(*target) })
	if len(selecting) == 0 {
		return nil, nil
	}
	place, err := placeOf(ctx, p.Cached, namespace)
	if err != nil {
		return nil, err
	}
	return policy.Judge(selecting, *target, place), nil
}

// policyProblem says that policies deny a plan, although admission decided on it. It does not wait: its user can choose another.
func policyProblem(refused *policy.Refusal, subject, namespace string) *lifecycle.Problem {
	const since = " (the class, the plan or the policies changed since admission decided: choose another plan, or ask an operator)"
	return &lifecycle.Problem{Reason: ReasonDenied, Told: true, Message: refused.Text(subject, namespace) + since}
}

// planTitle is a plan with its class, for messages.
func planTitle(t *policy.Target) string {
	return "plan " + cmp.Or(t.Class.External, t.Class.Kubernetes) + "/" + cmp.Or(t.Plan.External, t.Plan.Kubernetes)
}
