package controller

import (
	"cmp"
	"context"
	"fmt"

	"github.com/defaultplan/defaultplan/osb/controller/broker"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// place makes the pass get its place in the queue before anything is read from
// the API server: Secrets, and the bindings of an instance that is being
// deleted. If nothing is sent by what the cache has, the pass does not wait for
// a place.
func (s *instanceResource) place(ctx context.Context, thing *lifecycle.Resource, problem *lifecycle.Problem, found inputs) error {
	switch {
	case thing.Deleting && len(found.Holders) > 0:
		return nil
	case thing.Deleting:
	case problem != nil || len(s.instance.Spec.ParametersFrom) == 0 || refusedAsItIs(thing):
		return nil
	default:
		if presumed, err := s.presume(ctx, thing, &found); err != nil || !presumed {
			return err
		}
	}
	if err := s.locate(ctx, thing, &found); err != nil || found.Problem != nil {
		return err
	}
	return s.engine.enter(ctx, s, thing, &found)
}

// refusedAsItIs says whether the broker rejected the request for good, and the
// spec is unchanged: only new values of its Secrets can change the request, and
// they are read without a place.
func refusedAsItIs(thing *lifecycle.Resource) bool {
	return thing.Record.Refused != "" && thing.Generation == thing.Record.ObservedGeneration
}

// presume is the desired request, provided that its Secrets have the values
// that were sent last.
func (s *instanceResource) presume(ctx context.Context, thing *lifecycle.Resource, found *inputs) (bool, error) {
	if s.removed(thing) != nil {
		return false, nil
	}
	ask, err := s.asks(ctx, thing)
	if err != nil {
		return false, err
	}
	if sent := cmp.Or(thing.Record.InProgress, thing.Record.Applied); sent != nil {
		ask.Parameters, ask.ParameterChecksum = sent.Parameters, sent.ParameterChecksum
	}
	problem, err := s.denied(ctx, thing, ask)
	if problem == nil && err == nil {
		problem, err = s.slotless(ctx, thing, ask)
	}
	found.Desired = ask
	return problem == nil, err
}

// locate finds the broker of the next call, and its state.
func (s *instanceResource) locate(ctx context.Context, thing *lifecycle.Resource, found *inputs) error {
	target := thing.Record.Target()
	asks := !thing.Deleting && !thing.Record.Mitigating && !thing.Record.Async && found.Desired != nil
	if asks {
		target = &found.Desired.Request
	}
	if target != nil {
		found.broker = broker.KeyOf(&target.BrokerTarget, s.instance.Namespace)
	}
	if err := s.engine.observe(ctx, found, &thing.Record); err != nil {
		return err
	}
	if found.BrokerGone && asks {
		found.Desired, found.Problem = nil, &lifecycle.Problem{
			Reason: "ReferencesNonexistentBroker", Waits: true, Message: fmt.Sprintf("the class's broker, %s, is not there", found.broker),
		}
	}
	return nil
}
