package controller

import (
	"context"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/broker"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// place makes a pass over a binding that is not bound yet get its place in the
// queue before its Secret, those of its parameters, and the permissions of its
// user are read from the API server.
func (s *bindingResource) place(ctx context.Context, thing *lifecycle.Resource, instance *v1beta1.ServiceInstance, found inputs) error {
	r := &thing.Record
	if r.Exists || s.unbindable(r, instance) != nil || refusedAsItIs(thing) {
		return nil
	}
	problem, err := s.denied(ctx, r, instance)
	if problem == nil && err == nil {
		problem, err = s.slotless(ctx, r)
	}
	if problem == nil && err == nil {
		err = s.aims(ctx, instance, &found)
	}
	if problem != nil || err != nil {
		return err
	}
	if sent := r.InProgress; sent != nil { // its Secrets are taken to hold what they held then
		s.ask.Parameters, s.ask.ParameterChecksum = sent.Parameters, sent.ParameterChecksum
	}
	err = s.locate(ctx, thing, &found)
	s.ask = nil
	if err != nil {
		return err
	}
	return s.engine.enter(ctx, s, thing, &found)
}

// locate finds the broker of the next call, and its state.
func (s *bindingResource) locate(ctx context.Context, thing *lifecycle.Resource, found *inputs) error {
	target := thing.Record.Target()
	if target == nil && s.ask != nil {
		target = &s.ask.Request
	}
	if target == nil {
		return nil
	}
	found.broker = broker.KeyOf(&target.BrokerTarget, s.binding.InstanceKey().Namespace)
	return s.engine.observe(ctx, found, &thing.Record)
}
