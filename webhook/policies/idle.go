package policies

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/webhook/catalog"
)

// lookedUp bounds the subjects, and the namespaces, of a policy that are looked
// up: the warnings are meant to catch typing errors.
const lookedUp = 32

// idle warns of the parts of a policy that select nothing now.
func (p *Validator) idle(ctx context.Context, spec *policySpec) ([]string, error) {
	told, err := p.idleSubjects(ctx, spec)
	if err != nil || spec.Namespaces == nil {
		return told, err
	}
	for i, name := range spec.Namespaces.Names {
		if i == lookedUp {
			break
		}
		found, err := catalog.Scope{Reader: p.live}.Read(ctx, name, &corev1.Namespace{})
		if err != nil {
			return nil, err
		}
		if !found {
			told = append(told, fmt.Sprintf("spec.namespaces.names[%d]: there is no namespace %q now", i, name))
		}
	}
	return told, nil
}

func (p *Validator) idleSubjects(ctx context.Context, spec *policySpec) ([]string, error) {
	targets, err := p.targets(ctx)
	if err != nil {
		return nil, err
	}
	var told []string
	for i := range spec.Subjects[:min(len(spec.Subjects), lookedUp)] {
		subject := &spec.Subjects[i]
		if ctx.Err() != nil {
			return nil, fmt.Errorf("cannot look up what the policy selects: %w", ctx.Err())
		}
		if !selectsAny(subject, targets) {
			told = append(told, fmt.Sprintf("spec.subjects[%d] selects no plan now", i))
		}
		if subject.Instance == nil {
			continue
		}
		name := subject.Instance.Name
		found, err := catalog.Scope{Reader: p.live, Namespace: subject.Instance.Namespace}.Read(ctx, name, &v1beta1.ServiceInstance{})
		if err != nil {
			return nil, err
		}
		if !found {
			told = append(told, fmt.Sprintf("spec.subjects[%d].instance: there is no instance %q in namespace %q now", i, name, subject.Instance.Namespace))
		}
	}
	return told, nil
}

// selectsAny says that a subject's part about plans selects one of the targets.
func selectsAny(subject *v1beta1.BindingPolicySubject, targets []policy.Target) bool {
	alone := &policySpec{PolicyRule: v1beta1.PolicyRule{Action: v1beta1.PolicyDeny}}
	alone.Subjects = []v1beta1.BindingPolicySubject{{PlanSubject: subject.PlanSubject}}
	rule, err := compiled(policy.KindProvisioning, alone)
	if err != nil {
		// It does not mention plans, or had that fault before.
		return true
	}
	return slices.ContainsFunc(targets, rule.Selects)
}

// targets are the plans of all scopes, as the cache has them.
func (p *Validator) targets(ctx context.Context) ([]policy.Target, error) {
	found, err := catalog.Everywhere(ctx, p.cached)
	if err != nil {
		return nil, err
	}
	byRef := make(map[resolve.Ref]resolve.ClassEntry, len(found.Classes))
	for _, class := range found.Classes {
		byRef[class.Ref] = class
	}
	// Costs come from plans of the cluster only, of which few have one ID.
	byID := map[string][]resolve.PlanEntry{}
	for _, plan := range found.Plans {
		if plan.Namespace == plan.Broker.Namespace {
			byID[plan.ExternalID] = append(byID[plan.ExternalID], plan)
		}
	}
	targets := make([]policy.Target, len(found.Plans))
	for i, plan := range found.Plans {
		targets[i] = policy.TargetOf(byRef[resolve.Ref{Namespace: plan.Namespace, Name: plan.Class}], plan)
		targets[i] = targets[i].PricedBy(byID[targets[i].Original.ExternalID])
	}
	return targets, nil
}
