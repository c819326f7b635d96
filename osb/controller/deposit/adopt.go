package deposit

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/credentials"
	"github.com/defaultplan/defaultplan/osb/controller/endpoints"
	"github.com/defaultplan/defaultplan/osb/controller/owned"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// adopts says that the binding is to be adopted: its Secret may be one that a user offers.
func (d *Deposit) adopts() bool {
	t := lifecycle.OfBinding(d.binding)
	return t.Adopts()
}

// Supplied says whether the Secret holds the credentials of the binding that is adopted: it
// is the binding's own, or a user offers it.
func (d *Deposit) Supplied(ctx context.Context) (bool, error) {
	if err := d.Find(ctx); err != nil {
		return false, err
	}
	return d.offered || d.is(owned.Own) && d.holding.ID != "" && d.holding.ID == lifecycle.InForce(d.binding), nil
}

// TakeOver makes the Secret that a user supplied the binding's own, and leaves its content as
// it is: the credentials are not transformed again, and no endpoints are known of them. The
// Problem is what someone must change first.
func (d *Deposit) TakeOver(ctx context.Context) (*lifecycle.Problem, error) {
	err := d.own(ctx)
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || owned.IsForeign(err) || errors.As(err, new(credentials.TypeError)) {
		return &lifecycle.Problem{Reason: credentials.ReasonNotStored, Waits: true, Message: fmt.Sprintf("cannot take over the Secret %q: %s", d.name(), err)}, nil
	}
	if err != nil {
		return nil, err
	}
	d.issued = d.holding.State(d.binding)
	found, refusal := endpoints.Unseen(&d.binding.Spec)
	d.written.result, d.written.deposited = d.places.Endpoints.Of(d.binding, found, refusal), true
	if credentials.Publishes(d.binding) {
		d.written.unpublished = new(true)
	}
	return nil, nil
}

// own makes a Secret that is offered the binding's own. Requests for a rotation that were
// served before are not served again.
func (d *Deposit) own(ctx context.Context) error {
	if !d.offered {
		return nil
	}
	if rotation := d.binding.Spec.Rotation; rotation != nil {
		d.holding.Requests = rotation.Requests
	}
	if d.holding.IssuedAt.IsZero() {
		d.holding.IssuedAt = d.clock.Now()
	}
	if err := d.places.Secrets.TakeOver(ctx, d.binding, d.holding); err != nil {
		return err
	}
	d.secret, d.offered = new(owned.Own), false
	return nil
}

// keeps says that the broker has the binding that is to be adopted and does not give its
// credentials, and that the Secret holds them.
func (d *Deposit) keeps(given *osb.Binding) bool {
	if len(given.Credentials) > 0 {
		return false
	}
	own := d.is(owned.Own) && d.holding.ID != "" && d.holding.ID == lifecycle.InForce(d.binding)
	return d.offered || own && d.adopts() && d.binding.Status.ExternalProperties == nil
}

// keepAsIs takes over the Secret as it is, for a broker that has the binding.
func (d *Deposit) keepAsIs(ctx context.Context, reply *lifecycle.CallResult) {
	problem, err := d.TakeOver(context.WithoutCancel(ctx))
	reply.Credentials = lifecycle.Stored
	switch {
	case problem != nil:
		reply.Credentials, reply.StoreProblem = lifecycle.NotStored, problem.Message
	case err != nil:
		reply.Credentials, reply.StoreProblem = lifecycle.NotStored, err.Error()
	}
}
