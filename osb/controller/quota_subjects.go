package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// needsSlot says whether the desired state needs slots: that of an instance
// that does not exist at its broker yet, and a change of plan. Everything else
// continues regardless of limits.
func (s *instanceResource) needsSlot(thing *lifecycle.Resource, ask *lifecycle.Desired) bool {
	return !thing.Record.Exists || thing.Changes(ask).Plan
}

// slotless is the problem of an instance without a slot, by the cache.
func (s *instanceResource) slotless(ctx context.Context, thing *lifecycle.Resource, ask *lifecycle.Desired) (*lifecycle.Problem, error) {
	if s.slots = s.needsSlot(thing, ask); !s.slots {
		return nil, nil
	}
	return s.quotas.lacks(ctx, s.needer())
}

// needer is the instance as it was read: what the intent was stored for.
func (s *instanceResource) needer() *needer {
	return &needer{kind: quota.Instances, object: s.instance, named: func(context.Context, client.Reader) ([]quota.Named, error) {
		return quota.OfInstance(s.instance), nil
	}}
}

// prepare checks that the instance has its slots, right before the call.
func (s *instanceResource) prepare(ctx context.Context, d *lifecycle.Decision) (lifecycle.CallResult, bool) {
	if !s.slots || d.Step != lifecycle.Provision && d.Step != lifecycle.Update {
		return lifecycle.CallResult{}, false
	}
	reply := s.quotas.withholds(ctx, s.needer())
	return reply, reply.Err != nil
}

// slotless is the problem of a new binding without a slot, by the cache.
func (s *bindingResource) slotless(ctx context.Context, r *lifecycle.Record) (*lifecycle.Problem, error) {
	// A binding whose credentials are lost has its slot.
	if s.slots = !r.Exists; !s.slots {
		return nil, nil
	}
	return s.quotas.lacks(ctx, s.needer())
}

// needer is the binding, with the plans that its instance has or asks for.
func (s *bindingResource) needer() *needer {
	return &needer{kind: quota.Bindings, object: s.binding, named: func(ctx context.Context, reader client.Reader) ([]quota.Named, error) {
		instance := &v1beta1.ServiceInstance{}
		at := s.binding.InstanceKey()
		err := reader.Get(ctx, at, instance)
		if apierrors.IsNotFound(err) {
			return quota.OfBinding(s.binding, nil), nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read instance %q: %w", at.Name, err)
		}
		return quota.OfBinding(s.binding, instance), nil
	}}
}
