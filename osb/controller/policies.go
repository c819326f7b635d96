package controller

import (
	"context"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/policies"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// denied says which policy denies the desired plan of the instance.
func (s *instanceResource) denied(ctx context.Context, thing *lifecycle.Resource, ask *lifecycle.Desired) (*lifecycle.Problem, error) {
	return s.policies.DeniesInstance(ctx, &policies.Instance{Resource: thing, Desired: ask, Target: &s.offering.Offer.Target, Namespace: s.instance.Namespace})
}

// slotless is the problem of an instance without a slot, by the cache.
func (s *instanceResource) slotless(ctx context.Context, thing *lifecycle.Resource, ask *lifecycle.Desired) (*lifecycle.Problem, error) {
	if s.needsSlots = policies.NeedsSlot(thing, ask); !s.needsSlots {
		return nil, nil
	}
	return s.slots.Lacks(ctx, policies.InstanceRequest(s.instance))
}

// prepare checks that the instance has its slots, right before the call.
func (s *instanceResource) prepare(ctx context.Context, d *lifecycle.Decision) (lifecycle.CallResult, bool) {
	if !s.needsSlots || d.Step != lifecycle.Provision && d.Step != lifecycle.Update {
		return lifecycle.CallResult{}, false
	}
	reply := s.slots.Withholds(ctx, policies.InstanceRequest(s.instance))
	return reply, reply.Err != nil
}

// denied says which policy denies a binding that is still to be made.
func (s *bindingResource) denied(ctx context.Context, r *lifecycle.Record, instance *v1beta1.ServiceInstance) (*lifecycle.Problem, error) {
	return s.policies.DeniesBinding(ctx, &policies.Binding{Record: r, Namespace: s.binding.Namespace, Instance: instance, Offering: s.offering})
}

// slotless is the problem of a new binding without a slot, by the cache.
func (s *bindingResource) slotless(ctx context.Context, r *lifecycle.Record) (*lifecycle.Problem, error) {
	// A binding whose credentials are lost has its slot.
	if s.needsSlots = !r.Exists; !s.needsSlots {
		return nil, nil
	}
	return s.slots.Lacks(ctx, policies.BindingRequest(s.binding))
}
