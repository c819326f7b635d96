package simulation

import (
	"cmp"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// offers are the classes and plans of all scopes.
type offers struct {
	classes map[resolve.Ref]*resolve.ClassEntry
	plans   map[resolve.Ref]*resolve.PlanEntry
	// alike are all plans by their IDs, among them the copies that cost what an original does.
	alike map[string][]*resolve.PlanEntry
}

// copiesOf are the plans with the ID of a plan of the cluster at its broker.
func (o *offers) copiesOf(original *resolve.PlanEntry) []*resolve.PlanEntry {
	if original.Namespaced() || original.ExternalID == "" {
		return nil
	}
	var copies []*resolve.PlanEntry
	for _, plan := range o.alike[original.ExternalID] {
		if plan.Broker == original.Broker && plan.Ref != original.Ref {
			copies = append(copies, plan)
		}
	}
	return copies
}

// classOf is the class of a plan, nil if it is absent.
func (o *offers) classOf(plan *resolve.PlanEntry) *resolve.ClassEntry {
	return o.classes[resolve.Ref{Namespace: plan.Namespace, Name: plan.Class}]
}

// typeOf is a plan's own type, else its class's.
func (o *offers) typeOf(plan *resolve.PlanEntry) string {
	if class := o.classOf(plan); plan.Type == "" && class != nil {
		return class.Type
	}
	return plan.Type
}

// gone says why a plan is not offered any more: "" if it is.
func (o *offers) gone(ref resolve.Ref) string {
	plan := o.plans[ref]
	if plan == nil {
		return "it does not exist"
	}
	if why := resolve.WhyGone(o.classOf(plan), plan); why != "" {
		return "it is " + why
	}
	return ""
}

// title is a plan as class/plan, each by its external name; empty for none.
func (o *offers) title(ref resolve.Ref) string {
	plan := o.plans[ref]
	if plan == nil {
		return ref.Name
	}
	class := plan.Class
	if of := o.classOf(plan); of != nil {
		class = cmp.Or(of.ExternalName, of.Name)
	}
	return class + "/" + cmp.Or(plan.ExternalName, plan.Name)
}

// target is a plan as policies see it. Of one that is gone, its name is left.
func (o *offers) target(ref resolve.Ref) policy.Target {
	plan := o.plans[ref]
	if plan == nil {
		return policy.Target{Plan: policy.Names{Kubernetes: ref.Name}}
	}
	return o.offer(plan).Target
}

func (o *offers) offer(plan *resolve.PlanEntry) quota.Offer {
	class := o.classOf(plan)
	if class == nil {
		class = &resolve.ClassEntry{Ref: resolve.Ref{Namespace: plan.Namespace, Name: plan.Class}}
	}
	offer := quota.OfferOf(*class, *plan)
	offer.Target = offer.PricedBy(o.originalsOf(offer.Original.ExternalID))
	return offer
}

// originalsOf are the plans of the cluster with an ID, which say what copies cost.
func (o *offers) originalsOf(id string) []resolve.PlanEntry {
	if id == "" {
		return nil
	}
	var found []resolve.PlanEntry
	for _, plan := range o.alike[id] {
		if !plan.Namespaced() {
			found = append(found, *plan)
		}
	}
	return found
}

// Plan is the plan that a reference names.
func (o *offers) Plan(ref resolve.Ref) (quota.Offer, bool, error) {
	plan := o.plans[ref]
	if plan == nil {
		return quota.Offer{}, false, nil
	}
	return o.offer(plan), true, nil
}

// WithID are the plans that may be the one that a broker was sent.
func (o *offers) WithID(sent quota.IDs) ([]quota.Offer, error) {
	var found []quota.Offer
	for _, plan := range o.alike[sent.Plan] {
		if plan.Namespace == sent.Namespace {
			found = append(found, o.offer(plan))
		}
	}
	return found, nil
}
