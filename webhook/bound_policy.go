package webhook

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/resolve/quota"
	"github.com/defaultplan/defaultplan/webhook/commands"
)

// refusedFor says what policies refuse a binding in a namespace, nil for nothing. A change of plan may wait for long,
// and a binding is made of the plan that the instance has: both are held against the policies.
func (h *bindings) refusedFor(ctx context.Context, b *bound, namespace string) (*denial, error) {
	refused, err := h.refusedOf(ctx, b, b.defined, namespace)
	if err != nil || refused != nil {
		return refused, err
	}
	sent, known := quota.InForce(b.instance)
	if asked := quota.OfferOf(b.defined.Class, b.defined.Plan); !known || asked.Is(sent) {
		return nil, nil
	}
	has, err := h.resolver.catalog.sent(ctx, sent)
	if err != nil {
		return nil, err
	}
	if len(has) == 0 {
		return h.refusedUnlisted(b)
	}
	for _, one := range has {
		if refused, err = h.refusedOf(ctx, b, one, namespace); err != nil || refused != nil {
			return refused, err
		}
	}
	return nil, nil
}

// refusedOf is refusedFor of one plan.
func (h *bindings) refusedOf(ctx context.Context, b *bound, plan *definition, namespace string) (*denial, error) {
	target := policy.TargetOf(plan.Class, plan.Plan)
	target.Instance = &policy.Instance{Namespace: b.instance.Namespace, Name: b.instance.Name, Labels: b.instance.Labels}
	refused, err := h.resolver.refusal(ctx, &target, namespace)
	if err != nil {
		return nil, fmt.Errorf("cannot hold the binding against the policies: %w", err)
	}
	if refused == nil {
		return nil, nil
	}
	refused.subject = fmt.Sprintf("instance %q (plan %s)", b.instance.Name, plan.title())
	return refused.denial("spec.instanceRef.name"), nil
}

// refusedUnlisted refuses, where there are policies, a binding to an instance whose plan at its broker is not in the
// catalog: what they say of it cannot be known. Nothing is asked of the API server: a plan comes back rarely.
func (h *bindings) refusedUnlisted(b *bound) (*denial, error) {
	judged, err := h.policies.set.judges()
	if err != nil || !judged {
		return nil, err
	}
	return forbidden("PolicyDenied", "spec.instanceRef.name",
		"instance %q has another plan at its broker than the one it asks for, plan %s, and no plan of the catalog is that one: what policies say of it cannot be known",
		b.instance.Name, b.defined.title()).
		ways("to see what it has", commands.Instances(b.instance.Namespace)).
		remedy("wait until its change of plan is made, or ask an operator for the class and plan that it was made of"), nil
}

// sent are the plans that an instance has at its broker, as the API server has them.
func (c *catalog) sent(ctx context.Context, sent quota.IDs) ([]*definition, error) {
	s := shelf{reader: c.live, namespace: sent.Namespace}
	plans, err := s.plans(ctx, client.MatchingFields{v1beta1.FieldExternalID: sent.Plan})
	if err != nil {
		return nil, err
	}
	var found []*definition
	for i := range plans {
		one, err := c.defineLive(ctx, plans[i].Ref)
		if err != nil {
			return nil, err
		}
		if one == nil {
			continue
		}
		if offer := quota.OfferOf(one.Class, one.Plan); offer.Is(sent) {
			found = append(found, one)
		}
	}
	return found, nil
}
