package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// A slotCatalog is the plans as policies with limits see them.
type slotCatalog struct {
	// ctx is the pass's: what asks for a plan has none.
	ctx context.Context //nolint:containedctx // quota.Catalog is pure, and this lives for one look
	// live finds plans by their IDs, for which the cache has no index.
	reader, live client.Reader
}

// Plan reads a plan and its class.
func (c *slotCatalog) Plan(ref resolve.Ref) (quota.Offer, bool, error) {
	at := client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}
	var err error
	var entry resolve.PlanEntry
	if ref.Namespace == "" {
		plan := &v1beta1.ClusterServicePlan{}
		err = c.reader.Get(c.ctx, at, plan)
		entry = resolve.PlanFrom(plan)
	} else {
		plan := &v1beta1.ServicePlan{}
		err = c.reader.Get(c.ctx, at, plan)
		entry = resolve.PlanFrom(plan)
	}
	if apierrors.IsNotFound(err) {
		return quota.Offer{}, false, nil
	}
	if err != nil {
		return quota.Offer{}, false, fmt.Errorf("cannot read plan %q: %w", ref.Name, err)
	}
	offer, err := c.offer(c.reader, entry)
	return offer, true, err
}

// WithID reads the plans with an ID at a broker, and each class once.
func (c *slotCatalog) WithID(sent quota.IDs) ([]quota.Offer, error) {
	plans, err := c.plans(sent)
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
	}
	return offers, nil
}

// plans reads the plans with an ID, of the cluster or of a namespace.
func (c *slotCatalog) plans(sent quota.IDs) ([]resolve.PlanEntry, error) {
	match := client.MatchingFields{v1beta1.FieldExternalID: sent.Plan}
	var plans []resolve.PlanEntry
	var err error
	if sent.Namespace == "" {
		var list v1beta1.ClusterServicePlanList
		err = c.live.List(c.ctx, &list, match)
		for i := range list.Items {
			plans = append(plans, resolve.PlanFrom(&list.Items[i]))
		}
	} else {
		var list v1beta1.ServicePlanList
		err = c.live.List(c.ctx, &list, match, client.InNamespace(sent.Namespace))
		for i := range list.Items {
			plans = append(plans, resolve.PlanFrom(&list.Items[i]))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot list plans by their ID: %w", err)
	}
	return plans, nil
}

// offer is a plan with its class.
func (c *slotCatalog) offer(reader client.Reader, plan resolve.PlanEntry) (quota.Offer, error) {
	class, err := c.class(reader, plan)
	if err != nil {
		return quota.Offer{}, err
	}
	return quota.OfferOf(class, plan), nil
}

// class reads the class of a plan. Of one that is gone its name is left.
func (c *slotCatalog) class(reader client.Reader, plan resolve.PlanEntry) (resolve.ClassEntry, error) {
	at := client.ObjectKey{Namespace: plan.Namespace, Name: plan.Class}
	var err error
	var entry resolve.ClassEntry
	if plan.Namespace == "" {
		class := &v1beta1.ClusterServiceClass{}
		err = reader.Get(c.ctx, at, class)
		entry = resolve.ClassFrom(class)
	} else {
		class := &v1beta1.ServiceClass{}
		err = reader.Get(c.ctx, at, class)
		entry = resolve.ClassFrom(class)
	}
	if apierrors.IsNotFound(err) {
		entry, err = resolve.ClassEntry{Ref: resolve.Ref{Namespace: plan.Namespace, Name: plan.Class}}, nil
	}
	if err != nil {
		return resolve.ClassEntry{}, fmt.Errorf("cannot read class %q: %w", plan.Class, err)
	}
	return entry, nil
}
