package controller

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/scope"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// A rotationResource is the other binding that a binding has at its broker
// during one pass: the one with the next credentials, or the one with the
// previous credentials.
type rotationResource struct {
	current *bindingResource
}

// passes reconciles a binding, and if that changed nothing, the other binding
// at the broker. At a deletion the Secret is removed and the other binding goes
// first: once the one in force is gone, nothing is left.
func (r *bindings) passes(ctx context.Context, s *bindingResource) (time.Duration, error) {
	other := &rotationResource{current: s}
	b := s.binding
	if b.DeletionTimestamp != nil && b.Status.Rotation != nil {
		if err := s.deposit.Remove(ctx); err != nil {
			return 0, err
		}
		done, err := r.engine.pass(ctx, other)
		return done.after, err
	}
	done, err := r.engine.pass(ctx, s)
	if err != nil || !done.idle || b.DeletionTimestamp != nil {
		return done.after, err
	}
	is, wait := r.rotating.Turn(b, s.now)
	if !is {
		return sooner(done.after, wait), nil
	}
	later, err := r.engine.pass(ctx, other)
	return sooner(later.after, done.after), err
}

// sooner is the shorter of two waits; 0: no wait is known.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

func (s *rotationResource) object() client.Object { return s.current.binding }

func (s *rotationResource) thing() lifecycle.Resource {
	return s.current.rotating.OfRotation(s.current.binding, s.current.now)
}

// with is a copy with a record as that of the other binding.
func (s *rotationResource) with(o client.Object, record *lifecycle.Record) client.Object {
	b := s.current
	next := o.DeepCopyObject().(*v1beta1.ServiceBinding) //nolint:forcetypeassert // a binding's resource
	next.Status = b.rotating.RotationStatus(next, record, lifecycle.Switch{Issued: b.deposit.Issued(), Now: b.now})
	b.deposit.Tell(&next.Status)
	next.Status = b.rotating.Dated(next, b.now)
	return next
}

// without is a copy without the other binding, which is gone or was never
// created.
func (s *rotationResource) without(o client.Object) client.Object {
	next := o.DeepCopyObject().(*v1beta1.ServiceBinding) //nolint:forcetypeassert // a binding's resource
	next.Status = lifecycle.RotationDone(next)
	next.Status = s.current.rotating.Dated(next, s.current.now)
	return next
}

// finish rewrites an outcome as that of a rotation.
func (s *rotationResource) finish(outcome *lifecycle.Outcome, facts *lifecycle.Facts) []lifecycle.Event {
	role := v1beta1.RotationSuccessor
	if stored := s.current.binding.Status.Rotation; stored != nil {
		role = stored.Role
	}
	outcome.Rotates(role, facts)
	return s.current.finish(outcome, facts)
}

// prepare checks, right before a bind, what it checks for the current binding. Before an
// unbind the Secret stays: it does not hold the credentials of the other binding.
func (s *rotationResource) prepare(ctx context.Context, d *lifecycle.Decision) (lifecycle.CallResult, bool) {
	if d.Step != lifecycle.Provision {
		return lifecycle.CallResult{}, false
	}
	return s.current.prepare(ctx, d)
}

// call makes the one call of a decision. A successor's request names its predecessor where
// it was decided so; that says the record of what is sent.
func (s *rotationResource) call(ctx context.Context, broker *osb.Client, d *lifecycle.Decision) lifecycle.CallResult {
	if sent := d.Record.InProgress; d.Step == lifecycle.Provision && sent != nil {
		s.current.request.predecessor = lifecycle.SuccessorOf(s.current.binding, sent)
	}
	return s.current.call(ctx, broker, d)
}

// gather finds out what the other binding needs: its broker, and if it is still to be made,
// what it asks for.
func (s *rotationResource) gather(ctx context.Context, thing *lifecycle.Resource) (inputs, error) {
	b, found := s.current, inputs{reread: true}
	found.FromSecrets = len(b.binding.Spec.ParametersFrom) > 0 && !thing.Deleting
	instance, err := b.instance(ctx)
	if found.Problem = scope.Problem(err); found.Problem != nil {
		return found, nil
	}
	if err != nil {
		return found, err
	}
	if instance != nil {
		if err := b.offered(ctx, thing, instance, &found); err != nil {
			return found, err
		}
	}
	if !thing.Deleting {
		if err := s.succeeds(ctx, thing, instance, &found); err != nil {
			return found, err
		}
	}
	b.request.redact(ctx)
	found.redactor = b.request.parameters.Redactor
	err = b.locate(ctx, thing, &found)
	return found, err
}

// succeeds is the desired request of a successor. If the plan is rotatable and
// the predecessor is valid, the broker copies the predecessor's parameters;
// otherwise it is a normal bind.
func (s *rotationResource) succeeds(ctx context.Context, thing *lifecycle.Resource, instance *v1beta1.ServiceInstance, found *inputs) error {
	b := s.current
	if err := b.deposit.Find(ctx); err != nil {
		return err
	}
	found.Stored, found.ToldMore = b.deposit.Stored(thing.Record.ID)
	problem, err := b.unable(ctx, &thing.Record, instance)
	if problem != nil || err != nil {
		found.Problem = problem
		return err
	}
	if !b.offering.BindingRotatable() || s.expired() {
		return b.asks(ctx, thing, instance, found)
	}
	if found.Desired, err = b.request.aim(ctx, b.to(instance)); err == nil {
		found.Desired.Request = lifecycle.Succeeding(b.binding, found.Desired.Request)
	}
	return err
}

// expired says whether the current credentials have expired.
func (s *rotationResource) expired() bool {
	known := s.current.binding.Status.Credentials
	return known != nil && known.ExpiresAt != nil && !s.current.now.Before(known.ExpiresAt.Time)
}
