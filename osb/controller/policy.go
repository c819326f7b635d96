package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// reasonPolicy is the reason of what a policy denies, the same as in
// admission's denials.
const reasonPolicy = "PolicyDenied"

// policies evaluates ProvisioningPolicies and BindingPolicies by the cache.
// Admission evaluated them for the class and plan that it decided. A user who
// may write classes and plans may have replaced these since, so the controller
// evaluates the policies again for the objects that a request is built from,
// before its intent is stored.
type policies struct {
	reader client.Reader
}

// rules are the policies that deny or allow. Those that cannot be compiled have no effect, here as everywhere.
func (p *policies) rules(ctx context.Context) ([]policy.Rule, error) {
	var list v1beta1.ProvisioningPolicyList
	if err := p.reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
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
func (p *policies) bindingRules(ctx context.Context) ([]policy.Rule, error) {
	rules, err := p.rules(ctx)
	if err != nil {
		return nil, err
	}
	var list v1beta1.BindingPolicyList
	if err := p.reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
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
func (p *policies) refuses(ctx context.Context, rules []policy.Rule, target *policy.Target, namespace string) (*policy.Refusal, error) {
	selecting := slices.DeleteFunc(slices.Clone(rules), func(r policy.Rule) bool { return !r.Selects(*target) })
	if len(selecting) == 0 {
		return nil, nil
	}
	place, err := placeOf(ctx, p.reader, namespace)
	if err != nil {
		return nil, err
	}
	return policy.Judge(selecting, *target, place), nil
}

// policyProblem says that policies deny a plan, although admission decided on it. It does not wait: its user can choose another.
func policyProblem(refused *policy.Refusal, subject, namespace string) *lifecycle.Problem {
	const since = " (the class, the plan or the policies changed since admission decided: choose another plan, or ask an operator)"
	return &lifecycle.Problem{Reason: reasonPolicy, Told: true, Message: refused.Text(subject, namespace) + since}
}

// planTitle is a plan with its class, for messages.
func planTitle(t *policy.Target) string {
	return "plan " + cmp.Or(t.Class.External, t.Class.Kubernetes) + "/" + cmp.Or(t.Plan.External, t.Plan.Kubernetes)
}

// denied says which policy denies the desired plan of the instance. Policies do
// not apply to a plan that was sent already: what exists at a broker, or may
// exist, stays.
func (s *instanceResource) denied(ctx context.Context, thing *lifecycle.Resource, ask *lifecycle.Desired) (*lifecycle.Problem, error) {
	if toAdopt(thing) || planSent(&thing.Record, ask) || !s.needsSlot(thing, ask) && !atAnotherBroker(&thing.Record, ask) {
		return nil, nil
	}
	rules, err := s.policies.rules(ctx)
	if err != nil || len(rules) == 0 {
		return nil, err
	}
	target, namespace := &s.offering.offer.Target, s.instance.Namespace
	refused, err := s.policies.refuses(ctx, rules, target, namespace)
	if err != nil || refused == nil {
		return nil, err
	}
	return policyProblem(refused, planTitle(target), namespace), nil
}

// planSent says whether the broker has the desired plan, or was sent it and may
// have it. Policies apply again to a change that the broker has answered,
// before it is sent again.
func planSent(r *lifecycle.Record, ask *lifecycle.Desired) bool {
	has, sent := r.Applied, r.InProgress
	answered := r.Exists && r.Operation == lifecycle.NoOperation
	return r.Exists && has != nil && has.BrokerTarget == ask.BrokerTarget ||
		sent != nil && !answered && sent.BrokerTarget == ask.BrokerTarget
}

// atAnotherBroker says whether the instance exists at another broker than the
// desired one, so that the IDs of its plan cannot be compared.
func atAnotherBroker(r *lifecycle.Record, ask *lifecycle.Desired) bool {
	has := r.Applied
	return r.Exists && has != nil &&
		(has.ClusterServiceBrokerName != ask.ClusterServiceBrokerName || has.ServiceBrokerName != ask.ServiceBrokerName)
}

// denied says which policy denies a binding that is still to be made to what its instance has, or asks for.
func (s *bindingResource) denied(ctx context.Context, r *lifecycle.Record, instance *v1beta1.ServiceInstance) (*lifecycle.Problem, error) {
	if r.Exists || s.bindSent(r, instance.Status.ExternalProperties) {
		return nil, nil
	}
	rules, err := s.policies.bindingRules(ctx)
	if err != nil || len(rules) == 0 {
		return nil, err
	}
	plans, opaque, err := quota.Look(quota.OfInstance(instance), s.readOffer(ctx))
	if err != nil {
		return nil, fmt.Errorf("cannot read the plans of instance %q: %w", instance.Name, err)
	}
	if opaque {
		return s.deniedUnread(ctx, rules, instance.Name)
	}
	for i := range plans {
		if problem, err := s.deniedPlan(ctx, rules, plans[i].Target, instance); problem != nil || err != nil {
			return problem, err
		}
	}
	return nil, nil
}

// bindSent says that the broker was sent the request to bind to what the instance has, and may have done it.
func (s *bindingResource) bindSent(r *lifecycle.Record, has *v1beta1.ServiceInstancePropertiesState) bool {
	if r.InProgress == nil || has == nil {
		return false
	}
	target := has.BrokerTarget
	if target.ClassExternalID == "" && s.offering != nil { // provisioned by the retired catalog: see aims
		target = s.offering.target
	}
	return r.InProgress.BrokerTarget == target
}

// deniedUnread is denied for a plan at the broker that is not in the catalog:
// every rule that could deny in the binding's namespace may select it.
func (s *bindingResource) deniedUnread(ctx context.Context, rules []policy.Rule, instance string) (*lifecycle.Problem, error) {
	place, err := placeOf(ctx, s.policies.reader, s.binding.Namespace)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(rules, func(r policy.Rule) bool { return r.Deny == r.Holds(place) }) {
		return opaquePlan(instance), nil
	}
	return nil, nil
}

// deniedPlan is denied for one plan of the instance.
func (s *bindingResource) deniedPlan(ctx context.Context, rules []policy.Rule, target policy.Target, instance *v1beta1.ServiceInstance) (*lifecycle.Problem, error) {
	target.Instance = &policy.Instance{Namespace: instance.Namespace, Name: instance.Name, Labels: instance.Labels}
	refused, err := s.policies.refuses(ctx, rules, &target, s.binding.Namespace)
	if err != nil || refused == nil {
		return nil, err
	}
	subject := fmt.Sprintf("instance %q (%s)", instance.Name, planTitle(&target))
	return policyProblem(refused, subject, s.binding.Namespace), nil
}

// opaquePlan is the problem of an instance whose plan at its broker is not in
// the catalog: policies cannot be evaluated for it.
func opaquePlan(instance string) *lifecycle.Problem {
	return &lifecycle.Problem{Reason: reasonPolicy, Waits: true, Told: true, Message: fmt.Sprintf(
		"no plan of the catalog is the one that instance %q has at its broker: what policies say of it cannot be known until its class and plan are back", instance)}
}

// readOffer is the catalog with the plan that is asked for, unless that is lost.
func (s *bindingResource) readOffer(ctx context.Context) quota.Catalog {
	catalog := &slotCatalog{ctx: ctx, reader: s.reader, live: s.engine.store.live}
	if s.offering.lost {
		return catalog
	}
	return readOffer{catalog, s.offering.offer}
}

// A readOffer is a catalog in which the plan that is asked for is as it was read for the request.
type readOffer struct {
	*slotCatalog

	offer quota.Offer
}

// Plan is that plan.
func (c readOffer) Plan(resolve.Ref) (quota.Offer, bool, error) { return c.offer, true, nil }
