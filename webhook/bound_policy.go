package webhook

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/resolve/quota"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// refusedFor evaluates the policies for a binding in a namespace; nil means
// allowed. A change of plan may take long, and a binding uses the plan that the
// instance has at that time. Therefore the desired plan, the current one and
// that of a running operation must all be allowed.
func (h *bindings) refusedFor(ctx context.Context, b *bound, namespace string) (*review.Denial, error) {
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
	if judged, err := h.policies.set.judges(); err != nil || !judged {
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
func (h *bindings) refusedRecorded(ctx context.Context, b *bound, sent quota.IDs, namespace string) (*review.Denial, error) {
	if !h.resolver.confirms.allow(namespace) {
		return refusedUnread(b, "this namespace asks too often to look for it"), nil
	}
	has, err := h.resolver.catalog.sent(ctx, sent)
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
func (h *bindings) refusedOf(ctx context.Context, b *bound, plan *definition, namespace string) (*review.Denial, error) {
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

// refusedUnread denies a binding to an instance whose plan at its broker cannot
// be read, because policies cannot be evaluated for it.
func refusedUnread(b *bound, why string) *review.Denial {
	return review.Forbidden("PolicyDenied", "spec.instanceRef.name",
		"instance %q may have another plan at its broker than the one it asks for, plan %s, and %s: what policies say of it cannot be known",
		b.instance.Name, b.defined.title(), why).
		Ways("to see what it has", suggest.Instances(b.instance.Namespace)).
		Remedy("wait until its change of plan is made, or ask an operator for the class and plan that it was made of")
}

// sent are the plans that an instance has at its broker, as the API server has them: none where there are more than a
// few that may be it. Each class is read once.
func (c *catalog) sent(ctx context.Context, sent quota.IDs) ([]*definition, error) {
	s := scope{reader: c.live, namespace: sent.Namespace}
	plans, err := s.plans(ctx, client.MatchingFields{v1beta1.FieldExternalID: sent.Plan})
	if err != nil {
		return nil, err
	}
	plans = sent.Candidates(plans)
	classes := map[string]slice{}
	var found []*definition
	for i := range plans {
		class, read := classes[plans[i].Class]
		if !read {
			if class, err = s.class(ctx, plans[i].Class); err != nil {
				return nil, err
			}
			classes[plans[i].Class] = class
		}
		for _, of := range class.Classes {
			if offer := quota.OfferOf(of, plans[i]); offer.Is(sent) {
				found = append(found, &definition{Plan: plans[i], Class: of})
			}
		}
	}
	return found, nil
}
