package controller

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/broker"
	"github.com/defaultplan/defaultplan/osb/controller/scope"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// A rotationResource is the other binding that a binding has at its broker
// during one pass: the one with the next credentials, or the one with the
// previous credentials.
type rotationResource struct {
	*bindingResource
}

// passes reconciles a binding, and if that changed nothing, the other binding
// at the broker. At a deletion the Secret is removed and the other binding goes
// first: once the one in force is gone, nothing is left.
func (r *bindings) passes(ctx context.Context, s *bindingResource) (reconcile.Result, error) {
	other := &rotationResource{bindingResource: s}
	b := s.binding
	if b.DeletionTimestamp != nil && b.Status.Rotation != nil {
		if err := s.unwrite(ctx); err != nil {
			return reconcile.Result{}, err
		}
		return r.pass(ctx, other)
	}
	result, err := r.pass(ctx, s)
	if err != nil || !s.rests || b.DeletionTimestamp != nil {
		return result, err
	}
	is, wait := r.rotating.Turn(b, s.now)
	if !is {
		return sooner(result, wait), nil
	}
	later, err := r.pass(ctx, other)
	return sooner(later, result.RequeueAfter), err
}

// sooner is a result that comes no later than after a wait; 0: no wait is known.
func sooner(result reconcile.Result, wait time.Duration) reconcile.Result {
	if wait > 0 && (result.RequeueAfter == 0 || wait < result.RequeueAfter) {
		result.RequeueAfter = wait
	}
	return result
}

func (s *rotationResource) thing() lifecycle.Resource { return s.rotating.OfRotation(s.binding, s.now) }

// with is a copy with a record as that of the other binding.
func (s *rotationResource) with(o client.Object, record *lifecycle.Record) client.Object {
	next := o.DeepCopyObject().(*v1beta1.ServiceBinding) //nolint:forcetypeassert // a binding's resource
	next.Status = s.rotating.RotationStatus(next, record, lifecycle.Switch{Issued: s.issued, Now: s.now})
	s.tell(&next.Status)
	next.Status = s.rotating.Dated(next, s.now)
	return next
}

// without is a copy without the other binding, which is gone or was never
// created.
func (s *rotationResource) without(o client.Object) client.Object {
	next := o.DeepCopyObject().(*v1beta1.ServiceBinding) //nolint:forcetypeassert // a binding's resource
	next.Status = lifecycle.RotationDone(next)
	next.Status = s.rotating.Dated(next, s.now)
	return next
}

// judge rewrites an outcome as that of a rotation.
func (s *rotationResource) judge(outcome *lifecycle.Outcome, facts *lifecycle.Facts) {
	role := v1beta1.RotationSuccessor
	if stored := s.binding.Status.Rotation; stored != nil {
		role = stored.Role
	}
	outcome.Rotates(role, facts)
}

// call makes the one call of a decision. A successor's request names its predecessor where
// it was decided so; that says the record of what is sent.
func (s *rotationResource) call(ctx context.Context, broker *osb.Client, d *lifecycle.Decision) lifecycle.CallResult {
	if sent := d.Record.InProgress; d.Step == lifecycle.Provision && sent != nil {
		s.predecessor = lifecycle.SuccessorOf(s.binding, sent)
	}
	return s.bindingResource.call(ctx, broker, d)
}

// hideSecret removes the Secret of credentials that are about to be removed;
// those of the other binding at the broker are not in the Secret.
func (s *bindingResource) hideSecret(ctx context.Context) error {
	if s.other {
		return nil
	}
	return s.unwrite(ctx)
}

// gather finds out what the other binding needs: its broker, and if it is still to be made,
// what it asks for.
func (s *rotationResource) gather(ctx context.Context, thing *lifecycle.Resource) (inputs, error) {
	s.other = true
	found := inputs{reread: true}
	instance, err := s.instance(ctx)
	if found.Problem = scope.Problem(err); found.Problem != nil {
		return found, nil
	}
	if err != nil {
		return found, err
	}
	if instance != nil {
		if err := s.offered(ctx, thing, instance, &found); err != nil {
			return found, err
		}
	}
	if !thing.Deleting {
		if err := s.succeeds(ctx, thing, instance, &found); err != nil {
			return found, err
		}
	}
	s.redact(ctx)
	found.redactor = s.parameters.Redactor
	target := thing.Record.Target()
	if target == nil && s.ask != nil {
		target = &s.ask.Request
	}
	if target == nil {
		return found, nil
	}
	found.broker = broker.KeyOf(&target.BrokerTarget, s.binding.InstanceKey().Namespace)
	return found, s.observe(ctx, &found, &thing.Record)
}

// succeeds is the desired request of a successor. If the plan is rotatable and
// the predecessor is valid, the broker copies the predecessor's parameters;
// otherwise it is a normal bind.
func (s *rotationResource) succeeds(ctx context.Context, thing *lifecycle.Resource, instance *v1beta1.ServiceInstance, found *inputs) error {
	if err := s.findSecret(ctx); err != nil {
		return err
	}
	if found.Stored = s.stored(&thing.Record); found.Stored {
		found.ToldMore = s.holding.ToldInStatus
	}
	problem, err := s.unable(ctx, &thing.Record, instance)
	if problem != nil || err != nil {
		found.Problem = problem
		return err
	}
	if !s.offering.BindingRotatable() || s.expired() {
		return s.asks(ctx, instance, found)
	}
	if err := s.aims(ctx, instance, found); err != nil {
		return err
	}
	s.ask.Request = lifecycle.Succeeding(s.binding, s.ask.Request)
	return nil
}

// expired says whether the current credentials have expired.
func (s *rotationResource) expired() bool {
	known := s.binding.Status.Credentials
	return known != nil && known.ExpiresAt != nil && !s.now.Before(known.ExpiresAt.Time)
}

// unchanged records that the pass over the current binding found nothing to do.
func (s *bindingResource) unchanged() { s.rests = true }
