// Package deposit keeps what a broker gave for a ServiceBinding: the credentials in its
// Secret and the ConfigMap beside it, and the endpoints in its status.
package deposit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/credentials"
	"github.com/defaultplan/defaultplan/osb/controller/endpoints"
	"github.com/defaultplan/defaultplan/osb/controller/owned"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// Places are where it is kept.
type Places struct {
	Secrets   credentials.Secrets
	Endpoints endpoints.Validator
	// Current fails with a conflict if a binding was changed since it was read.
	Current func(context.Context, client.Object) error
}

// Of is the deposit of a binding, for a reconcile that began at a time.
func (p Places) Of(b *v1beta1.ServiceBinding, began time.Time, now clock.PassiveClock) *Deposit {
	return &Deposit{places: p, binding: b, began: began, clock: now}
}

// A Deposit is what one reconcile finds and writes of what the broker of a binding gave.
type Deposit struct {
	places  Places
	binding *v1beta1.ServiceBinding
	began   time.Time
	clock   clock.PassiveClock

	// secret is whose Secret has the name, or nil: that is not known.
	secret *owned.State
	// offered says that it is no object's, and that a user offers it to the binding.
	offered bool
	// holding is whose credentials the Secret holds.
	holding credentials.Metadata
	// issued is what is known of the credentials that were stored; nil: none were.
	issued  *v1beta1.CredentialsState
	written written
}

// A Call says what a response of the broker is for.
type Call struct {
	// ID is that of the binding at the broker, which a rotation has two of.
	ID string
	// First says that the broker has not given the credentials before.
	First bool
	// Origin is what the credentials are of, as far as it is known.
	Origin credentials.Origin
}

// Find reads the owner of the Secret, once: it may have another one the next time.
func (d *Deposit) Find(ctx context.Context) error {
	if d.secret != nil {
		return nil
	}
	secret, state, err := d.places.Secrets.Find(ctx, d.binding, owned.Secret, d.name())
	if err == nil {
		d.secret, d.holding = &state, credentials.MetadataOf(secret)
		d.offered = state == owned.Foreign && d.adopts() && credentials.Offered(secret, d.binding)
	}
	return err
}

// name is that of the Secret, and of the ConfigMap.
func (d *Deposit) name() string { return credentials.SecretName(d.binding) }

// is says whether the Secret is known to be in a state.
func (d *Deposit) is(state owned.State) bool { return d.secret != nil && *d.secret == state }

// Foreign says whether the Secret is known to belong to another object.
func (d *Deposit) Foreign() bool { return d.is(owned.Foreign) && !d.offered }

// Issued is what is known of the credentials that were stored; nil: none were.
func (d *Deposit) Issued() *v1beta1.CredentialsState { return d.issued }

// Keep writes the credentials of a response to the Secret before anything else,
// because the broker may return them only once. Only the first response may
// have none; existing credentials are never overwritten by none.
func (d *Deposit) Keep(ctx context.Context, call *Call, given *osb.Binding, reply *lifecycle.CallResult) {
	if given == nil {
		given = &osb.Binding{}
	}
	if d.keeps(given) {
		d.keepAsIs(ctx, reply)
		return
	}
	holdsThese := d.is(owned.Own) && d.holding.ID == call.ID && call.ID != ""
	if !call.First && !credentials.Gives(given) || holdsThese && len(given.Credentials) == 0 {
		return
	}
	// The credentials must not be lost because the call used up its time.
	ctx = context.WithoutCancel(ctx)
	if err := d.Write(ctx, call, given); err != nil {
		reply.Credentials, reply.StoreProblem = lifecycle.NotStored, err.Error()
		if errors.As(err, new(credentials.UnstorableError)) {
			reply.Credentials = lifecycle.Unstorable
		}
		return
	}
	reply.Credentials, reply.EmptyBecause = lifecycle.Stored, d.written.emptyBecause
}

// Write writes what a broker gave: the Secret and the ConfigMap, without which nothing is
// stored. The endpoints go to status, of which another reconciler makes the Service.
func (d *Deposit) Write(ctx context.Context, call *Call, given *osb.Binding) error {
	of := call.Origin
	found, refusal := endpoints.Discover(&d.binding.Spec, given)
	of.Metadata = d.Metadata(call.ID, given)
	of.Metadata.ToldInStatus = refusal != nil || len(found.Endpoints) > 0
	if err := d.own(ctx); err != nil {
		return err
	}
	wrote, err := d.places.Secrets.Write(ctx, d.binding, of, given)
	if err != nil {
		return err
	}
	d.issued = of.Metadata.State(d.binding)
	d.written.published, d.written.missing, d.written.emptyBecause = &wrote.Published, &wrote.Missing, wrote.EmptyBecause
	d.written.result, d.written.deposited = d.places.Endpoints.Of(d.binding, found, refusal), true
	return nil
}

// Metadata is what a Secret gets for new credentials of an ID at the broker. Credentials of
// the same ID keep the count of rotation requests that they served.
func (d *Deposit) Metadata(id string, given *osb.Binding) credentials.Metadata {
	h := credentials.Metadata{ID: id, IssuedAt: d.clock.Now(), ExpiresAt: given.ExpiresAt, RenewBefore: given.RenewBefore}
	switch rotation := d.binding.Spec.Rotation; {
	case d.holding.ID == id:
		h.Requests = d.holding.Requests
	case rotation != nil:
		h.Requests = rotation.Requests
	}
	return h
}

// Remove removes what holds credentials. The Service goes once status has no endpoints.
func (d *Deposit) Remove(ctx context.Context) error {
	if err := d.places.Secrets.RemoveAll(ctx, d.binding); err != nil {
		return err
	}
	d.written = written{published: new(false), missing: new([]string), result: d.places.Endpoints.None(d.binding)}
	return nil
}

// Unable says why credentials could not be stored. After some that could not (failed), none
// are requested that could not be stored either: that needs a dry run.
func (d *Deposit) Unable(ctx context.Context, serviceType string, failed bool) (*lifecycle.Problem, error) {
	if err := d.Find(ctx); err != nil {
		return nil, err
	}
	if d.Foreign() {
		return d.foreign(owned.Secret.Kind), nil
	}
	if problem, err := d.unpublishable(ctx); problem != nil || err != nil {
		return problem, err
	}
	if problem := d.places.Secrets.Unreadable(ctx, d.binding); problem != nil {
		return problem, nil
	}
	if failed && d.is(owned.Absent) {
		return d.places.Secrets.Refused(ctx, d.binding, serviceType)
	}
	return nil, nil
}

// unpublishable says, before a bind, whether the ConfigMap belongs to another
// object.
func (d *Deposit) unpublishable(ctx context.Context) (*lifecycle.Problem, error) {
	if !credentials.Publishes(d.binding) {
		return nil, nil
	}
	_, state, err := d.places.Secrets.Find(ctx, d.binding, owned.ConfigMap, d.name())
	if err != nil || state != owned.Foreign {
		return nil, err
	}
	return d.foreign(owned.ConfigMap.Kind), nil
}

// foreign is the problem of an object of that name that is another's.
func (d *Deposit) foreign(kind string) *lifecycle.Problem {
	return &lifecycle.Problem{Reason: credentials.ReasonNotStored, Waits: true, Message: fmt.Sprintf(
		"there is a %s %q that is not of this binding; it is left as it is: remove it, or make a binding with another secretName", kind, d.name())}
}
