package controller

import (
	"cmp"
	"context"
	"fmt"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/osb/controller/broker"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// gather finds out what the spec asks for, and what it waits for.
func (s *instanceResource) gather(ctx context.Context, thing *lifecycle.Resource) (inputs, error) {
	found := inputs{}
	found.FromSecrets = len(s.instance.Spec.ParametersFrom) > 0 && !thing.Deleting
	found.reread = len(s.instance.Spec.ParametersFrom) > 0 || len(s.platform.Annotations) > 0
	var err error
	if thing.Deleting {
		if found.Holders, err = s.dependents.Known(ctx, s.instance); err != nil {
			return found, err
		}
	}
	if err := s.resolveRefs(ctx, thing, &found); err != nil {
		return found, err
	}
	found.redactor = s.request.parameters.Redactor
	if err := s.locate(ctx, thing, &found); err != nil {
		return found, err
	}
	if thing.Deleting && len(found.Holders) == 0 {
		found.Holders, err = s.dependents.Of(ctx, s.instance)
	}
	found.reread = found.reread || found.Problem != nil || len(found.Holders) > 0
	return found, err
}

// resolveRefs reads what the spec refers to.
func (s *instanceResource) resolveRefs(ctx context.Context, thing *lifecycle.Resource, found *inputs) error {
	o, problem, err := s.catalog.OfInstance(ctx, s.instance)
	if err != nil {
		return err
	}
	if o != nil {
		found.Fetchable, found.MaxPolling = o.Class.InstancesRetrievable, o.MaxPolling()
		complete(thing, &o.Target)
		deleted, err := s.engine.brokers.IsBeingDeleted(ctx, broker.KeyOf(&o.Target, s.instance.Namespace))
		if err != nil {
			return err
		}
		o.Removed = o.Removed || deleted
	}
	s.offering = o
	if err := s.place(ctx, thing, problem, *found); err != nil {
		return err
	}
	if len(found.Holders) > 0 {
		return nil // it waits for them, and its broker is not asked
	}
	// Also if nothing is sent: the broker's messages may quote what it was sent
	// before.
	var unread *lifecycle.Problem
	if unread, err = s.request.read(ctx); err != nil && !thing.Deleting {
		return err
	}
	if problem == nil && !thing.Deleting {
		problem = cmp.Or(s.removed(thing), unread)
	}
	if found.Problem = problem; problem != nil || thing.Deleting {
		return nil
	}
	ask, err := s.request.aim(ctx, s.offering, &thing.Record)
	if err != nil {
		return err
	}
	if thing.OfRetired() {
		// An error is of what the retired catalog could not send: they were changed since.
		if sum, err := merge.RetiredChecksum(s.request.parameters.Values); err == nil {
			thing.Recognize(ask, sum)
		}
	}
	if found.Problem, err = s.refused(ctx, thing, ask); found.Problem == nil && err == nil {
		found.Desired = ask
		s.request.desired, s.request.changes = ask, thing.Changes(ask)
	}
	return err
}

// refused says which rule prevents sending what the spec asks for.
func (s *instanceResource) refused(ctx context.Context, thing *lifecycle.Resource, ask *lifecycle.Desired) (*lifecycle.Problem, error) {
	problem, err := s.denied(ctx, thing, ask)
	if problem == nil && err == nil {
		problem, err = s.request.unlawful(ctx, s.offering, thing)
	}
	if problem == nil && err == nil {
		problem, err = s.slotless(ctx, thing, ask)
	}
	return problem, err
}

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
	ask, err := s.request.aim(ctx, s.offering, &thing.Record)
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

// complete adds what the retired catalog did not record.
func complete(thing *lifecycle.Resource, target *v1beta1.BrokerTarget) {
	for _, sent := range []*lifecycle.Request{thing.Record.Applied, thing.Record.InProgress} {
		if sent == nil || sent.ClassExternalID != "" {
			continue
		}
		plan := sent.PlanExternalID
		sent.BrokerTarget = *target
		if plan != "" {
			sent.PlanExternalID = plan
		}
	}
}

// removed says whether the plan is no longer offered to an instance that does
// not have it yet.
func (s *instanceResource) removed(thing *lifecycle.Resource) *lifecycle.Problem {
	has := thing.Record.Applied
	if !s.offering.Removed || toAdopt(thing) || thing.Record.Exists && has != nil && has.PlanExternalID == s.offering.Target.PlanExternalID {
		return nil
	}
	reason, what := "ReferencesDeletedServicePlan", fmt.Sprintf("plan %q", s.offering.PlanName)
	if s.offering.ClassRemoved {
		reason, what = "ReferencesDeletedServiceClass", fmt.Sprintf("class %q", s.offering.Class.ExternalName)
	}
	return &lifecycle.Problem{
		Reason: reason, Waits: true,
		Message: fmt.Sprintf("the broker does not offer the %s any more: choose another, or make a new instance", what),
	}
}
