package policies

import (
	"context"

	"github.com/defaultplan/defaultplan/osb/lifecycle"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

// An Instance is what policies say of an instance that is to be provisioned or updated.
type Instance struct {
	Resource *lifecycle.Resource
	Desired  *lifecycle.Desired
	// Target is the desired plan as policies see it.
	Target    *policy.Target
	Namespace string
}

// DeniesInstance says which policy denies the desired plan of an instance. Policies do
// not apply to a plan that was sent already: what exists at a broker, or may
// exist, stays.
func (p *Rules) DeniesInstance(ctx context.Context, i *Instance) (*lifecycle.Problem, error) {
	record := &i.Resource.Record
	adopts := i.Resource.Adopts() && !record.Exists
	if adopts || planSent(record, i.Desired) || !NeedsSlot(i.Resource, i.Desired) && !atAnotherBroker(record, i.Desired) {
		return nil, nil
	}
	rules, err := p.rules(ctx)
	if err != nil || len(rules) == 0 {
		return nil, err
	}
	refused, err := p.refuses(ctx, rules, i.Target, i.Namespace)
	if err != nil || refused == nil {
		return nil, err
	}
	return policyProblem(refused, planTitle(i.Target), i.Namespace), nil
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
