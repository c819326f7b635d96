package binding

import (
	"context"
	"fmt"
	"slices"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/resolve/quota"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/policies"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// A policyCheck evaluates the policies for a binding in a namespace.
type policyCheck struct {
	resolver  *decision.Resolver
	rules     *policies.RuleSet
	namespace string
}

func policiesOf(tools *decision.Tools, namespace string) *policyCheck {
	return &policyCheck{tools.Resolver, tools.Policies.Set, namespace}
}

// refuse denies a binding to an instance; nil means
// allowed. A change of plan may take long, and a binding uses the plan that the
// instance has at that time. Therefore the desired plan, the current one and
// that of a running operation must all be allowed.
func (c *policyCheck) refuse(ctx context.Context, b *bound) (*review.Denial, error) {
	refused, err := c.refusePlan(ctx, b, b.defined)
	if err != nil || refused != nil {
		return refused, err
	}
	recorded, known := quota.Recorded(b.instance)
	asked := quota.OfferOf(b.defined.Class, b.defined.Plan)
	others := slices.DeleteFunc(recorded, asked.Is)
	if known && len(others) == 0 {
		return nil, nil
	}
	if refuses, err := c.rules.MayRefuse(); err != nil || !refuses {
		return nil, err
	}
	if !known {
		return refusedUnread(b, "its status does not say which"), nil
	}
	for _, sent := range others {
		if refused, err = c.refuseRecorded(ctx, b, sent); err != nil || refused != nil {
			return refused, err
		}
	}
	return nil, nil
}

// refuseRecorded is refuse for a plan that status records.
func (c *policyCheck) refuseRecorded(ctx context.Context, b *bound, sent quota.IDs) (*review.Denial, error) {
	if !c.resolver.Confirms.Allow(c.namespace) {
		return refusedUnread(b, "this namespace asks too often to look for it"), nil
	}
	has, err := c.resolver.Catalog.AtBroker(ctx, sent)
	if err != nil {
		return nil, err
	}
	if len(has) == 0 {
		return refusedUnread(b, "no plan of the catalog is that one"), nil
	}
	for _, one := range has {
		if refused, err := c.refusePlan(ctx, b, one); err != nil || refused != nil {
			return refused, err
		}
	}
	return nil, nil
}

// refusePlan is refuse for one plan.
func (c *policyCheck) refusePlan(ctx context.Context, b *bound, plan *catalog.Definition) (*review.Denial, error) {
	target := policy.TargetOf(plan.Class, plan.Plan)
	target.Instance = &policy.Instance{Namespace: b.instance.Namespace, Name: b.instance.Name, Labels: b.instance.Labels}
	refused, err := c.resolver.Refusal(ctx, &target, c.namespace)
	if err != nil {
		return nil, fmt.Errorf("cannot hold the binding against the policies: %w", err)
	}
	if refused == nil {
		return nil, nil
	}
	refused.Subject = fmt.Sprintf("instance %q (plan %s)", b.instance.Name, plan.Title())
	return refused.Denial("spec.instanceRef.name"), nil
}

// refuseClaim evaluates the policies of both kinds for a claim: whether it may
// have an instance of the plan, and bind to it.
func (c *policyCheck) refuseClaim(ctx context.Context, defined *catalog.Definition, field string) (*review.Denial, error) {
	target := policy.TargetOf(defined.Class, defined.Plan)
	var decided v1beta1.DecidedReference
	references.Pair{Class: defined.Class.Ref, Plan: defined.Plan.Ref}.Set(&decided)
	// Its name is not known yet, and only admission has given it labels.
	target.Instance = &policy.Instance{Namespace: c.namespace, Labels: references.HashedLabels(&decided, nil)}
	refused, err := c.resolver.Refusal(ctx, &target, c.namespace)
	if err != nil {
		return nil, fmt.Errorf("cannot hold the claim against the policies: %w", err)
	}
	if refused == nil {
		return nil, nil
	}
	refused.Subject = "plan " + defined.Title()
	return refused.Denial(field), nil
}

// refusedUnread denies a binding to an instance whose plan at its broker cannot
// be read, because policies cannot be evaluated for it.
func refusedUnread(b *bound, why string) *review.Denial {
	return review.Forbidden("PolicyDenied", "spec.instanceRef.name",
		"instance %q may have another plan at its broker than the one it asks for, plan %s, and %s: what policies say of it cannot be known",
		b.instance.Name, b.defined.Title(), why).
		Ways("to see what it has", suggest.Instances(b.instance.Namespace)).
		Remedy("wait until its change of plan is made, or ask an operator for the class and plan that it was made of")
}
