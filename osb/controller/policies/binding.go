package policies

import (
	"context"
	"fmt"
	"slices"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/catalog"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// A Binding is what policies say of a binding that is still to be made.
type Binding struct {
	Record *lifecycle.Record
	// Namespace is the binding's, and Instance what it is to be bound to.
	Namespace string
	Instance  *v1beta1.ServiceInstance
	// Offering is what the instance is of.
	Offering *catalog.Offering
}

// DeniesBinding says which policy denies a binding that is still to be made to what its
// instance has, or asks for.
func (p *Rules) DeniesBinding(ctx context.Context, b *Binding) (*lifecycle.Problem, error) {
	if b.Record.Exists || b.bindSent() {
		return nil, nil
	}
	rules, err := p.bindingRules(ctx)
	if err != nil || len(rules) == 0 {
		return nil, err
	}
	plans, opaque, err := quota.Look(quota.OfInstance(b.Instance), p.catalogOf(ctx, b.Offering))
	if err != nil {
		return nil, fmt.Errorf("cannot read the plans of instance %q: %w", b.Instance.Name, err)
	}
	if opaque {
		return p.deniesUnread(ctx, rules, b)
	}
	for i := range plans {
		if problem, err := p.deniesPlan(ctx, rules, plans[i].Target, b); problem != nil || err != nil {
			return problem, err
		}
	}
	return nil, nil
}

// bindSent says that the broker was sent the request to bind to what the instance has, and may have done it.
func (b *Binding) bindSent() bool {
	sent, has := b.Record.InProgress, b.Instance.Status.ExternalProperties
	if sent == nil || has == nil {
		return false
	}
	target := has.BrokerTarget
	if target.ClassExternalID == "" && b.Offering != nil { // provisioned by the retired catalog
		target = b.Offering.Target
	}
	return sent.BrokerTarget == target
}

// deniesUnread is DeniesBinding for a plan at the broker that is not in the catalog:
// every rule that could deny in the binding's namespace may select it.
func (p *Rules) deniesUnread(ctx context.Context, rules []policy.Rule, b *Binding) (*lifecycle.Problem, error) {
	place, err := placeOf(ctx, p.Cached, b.Namespace)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(rules, func(r policy.Rule) bool { return r.Deny == r.Holds(place) }) {
		return opaquePlan(b.Instance.Name), nil
	}
	return nil, nil
}

// deniesPlan is DeniesBinding for one plan of the instance.
func (p *Rules) deniesPlan(ctx context.Context, rules []policy.Rule, target policy.Target, b *Binding) (*lifecycle.Problem, error) {
	instance := b.Instance
	target.Instance = &policy.Instance{Namespace: instance.Namespace, Name: instance.Name, Labels: instance.Labels}
	refused, err := p.refuses(ctx, rules, &target, b.Namespace)
	if err != nil || refused == nil {
		return nil, err
	}
	subject := fmt.Sprintf("instance %q (%s)", instance.Name, planTitle(&target))
	return policyProblem(refused, subject, b.Namespace), nil
}

// opaquePlan is the problem of an instance whose plan at its broker is not in
// the catalog: policies cannot be evaluated for it.
func opaquePlan(instance string) *lifecycle.Problem {
	return &lifecycle.Problem{Reason: ReasonDenied, Waits: true, Told: true, Message: fmt.Sprintf(
		"no plan of the catalog is the one that instance %q has at its broker: what policies say of it cannot be known until its class and plan are back", instance)}
}

// catalogOf is the catalog with the plan that is asked for, unless that is lost.
func (p *Rules) catalogOf(ctx context.Context, o *catalog.Offering) quota.Catalog {
	read := &slotCatalog{ctx: ctx, reader: p.Cached, live: p.Live}
	if o.Lost {
		return read
	}
	return readOffer{read, o.Offer}
}

// A readOffer is a catalog in which the plan that is asked for is as it was read for the request.
type readOffer struct {
	*slotCatalog

	offer quota.Offer
}

// Plan is that plan.
func (c readOffer) Plan(resolve.Ref) (quota.Offer, bool, error) { return c.offer, true, nil }
