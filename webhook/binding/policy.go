package binding

import (
	"context"
	"fmt"
	"slices"

	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/resolve/quota"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// refusedFor evaluates the policies for a binding in a namespace; nil means
// allowed. A change of plan may take long, and a binding uses the plan that the
// instance has at that time. Therefore the desired plan, the current one and
// that of a running operation must all be allowed.
func (h *Handler) refusedFor(ctx context.Context, b *bound, namespace string) (*review.Denial, error) {
	refused, err := h.refusedOf(ctx, b, b.defined, namespace)
	if err != nil || refused != nil {
		return refused, err
	}
	recorded, known := quota.Recorded(b.instance)
	asked := quota.OfferOf(b.defined.Class, b.defined.Plan)
	others := slices.DeleteFunc(recorded, asked.Is)
	if known && len(others) == 0 {
		return nil, nil
	}
	if refuses, err := h.Policies.Set.MayRefuse(); err != nil || !refuses {
		return nil, err
	}
	if !known {
		return refusedUnread(b, "its status does not say which"), nil
	}
	for _, sent := range others {
		if refused, err = h.refusedRecorded(ctx, b, sent, namespace); err != nil || refused != nil {
			return refused, err
		}
	}
	return nil, nil
}

// refusedRecorded is refusedFor of a plan that status records.
func (h *Handler) refusedRecorded(ctx context.Context, b *bound, sent quota.IDs, namespace string) (*review.Denial, error) {
	if !h.Resolver.Confirms.Allow(namespace) {
		return refusedUnread(b, "this namespace asks too often to look for it"), nil
	}
	has, err := h.Resolver.Catalog.AtBroker(ctx, sent)
	if err != nil {
		return nil, err
	}
	if len(has) == 0 {
		return refusedUnread(b, "no plan of the catalog is that one"), nil
	}
	for _, one := range has {
		if refused, err := h.refusedOf(ctx, b, one, namespace); err != nil || refused != nil {
			return refused, err
		}
	}
	return nil, nil
}

// refusedOf is refusedFor of one plan.
func (h *Handler) refusedOf(ctx context.Context, b *bound, plan *catalog.Definition, namespace string) (*review.Denial, error) {
	target := policy.TargetOf(plan.Class, plan.Plan)
	target.Instance = &policy.Instance{Namespace: b.instance.Namespace, Name: b.instance.Name, Labels: b.instance.Labels}
	refused, err := h.Resolver.Refusal(ctx, &target, namespace)
	if err != nil {
		return nil, fmt.Errorf("cannot hold the binding against the policies: %w", err)
	}
	if refused == nil {
		return nil, nil
	}
	refused.Subject = fmt.Sprintf("instance %q (plan %s)", b.instance.Name, plan.Title())
	return refused.Denial("spec.instanceRef.name"), nil
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
