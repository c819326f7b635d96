package policies

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/catalog"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// A slotCatalog is the plans as policies with limits see them.
type slotCatalog struct {
	// ctx is the pass's: what asks for a plan has none.
	ctx context.Context //nolint:containedctx // quota.Catalog is pure, and this lives for one look
	// live finds the plans of namespaces by their IDs, as they are now.
	reader, live client.Reader
	// rules are those that the plans are held against.
	rules []policy.Rule
}

// Plan reads a plan and its class.
func (c *slotCatalog) Plan(ref resolve.Ref) (quota.Offer, bool, error) {
	at := client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}
	plan := v1beta1.NewPlan(ref.Namespace)
	err := c.reader.Get(c.ctx, at, plan)
	if apierrors.IsNotFound(err) {
		return quota.Offer{}, false, nil
	}
	if err != nil {
		return quota.Offer{}, false, fmt.Errorf("cannot read plan %q: %w", ref.Name, err)
	}
	offer, err := c.offer(c.reader, resolve.PlanFrom(plan))
	return offer, true, err
}

// WithID reads the plans with an ID at a broker, and each class once.
func (c *slotCatalog) WithID(sent quota.IDs) ([]quota.Offer, error) {
	plans, err := catalog.ListPlans(c.ctx, c.live, sent.Namespace, client.MatchingFields{v1beta1.FieldExternalID: sent.Plan})
	if err != nil {
		return nil, err
	}
	plans = sent.Candidates(plans)
	classes := map[string]resolve.ClassEntry{}
	offers := make([]quota.Offer, len(plans))
	for i := range plans {
		class, read := classes[plans[i].Class]
		if !read {
			if class, err = c.class(c.live, plans[i]); err != nil {
				return nil, err
			}
			classes[plans[i].Class] = class
		}
		offers[i] = quota.OfferOf(class, plans[i])
		if err := price(c.ctx, c.reader, c.rules, &offers[i].Target); err != nil {
			return nil, err
		}
	}
	return offers, nil
}

// offer is a plan with its class.
func (c *slotCatalog) offer(reader client.Reader, plan resolve.PlanEntry) (quota.Offer, error) {
	class, err := c.class(reader, plan)
	if err != nil {
		return quota.Offer{}, err
	}
	offer := quota.OfferOf(class, plan)
	return offer, price(c.ctx, reader, c.rules, &offer.Target)
}

// class reads the class of a plan. Of one that is gone its name is left.
func (c *slotCatalog) class(reader client.Reader, plan resolve.PlanEntry) (resolve.ClassEntry, error) {
	at := client.ObjectKey{Namespace: plan.Namespace, Name: plan.Class}
	class := v1beta1.NewClass(plan.Namespace)
	err := reader.Get(c.ctx, at, class)
	if apierrors.IsNotFound(err) {
		return resolve.ClassEntry{Ref: resolve.Ref{Namespace: plan.Namespace, Name: plan.Class}}, nil
	}
	if err != nil {
		return resolve.ClassEntry{}, fmt.Errorf("cannot read class %q: %w", plan.Class, err)
	}
	return resolve.ClassFrom(class), nil
}
