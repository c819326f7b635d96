package deposit

import (
	"context"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/credentials"
	"github.com/defaultplan/defaultplan/osb/controller/owned"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// Lost says whether the Secret of a bound binding is gone or belongs to another
// object; or its ConfigMap (part), if the broker returns the credentials again. If it
// does not, a lost ConfigMap is only reported and valid credentials are not put
// at risk: permission to delete a ConfigMap is no permission to revoke
// credentials.
func (d *Deposit) Lost(ctx context.Context, fetchable bool) (lost, part bool, err error) {
	if err := d.Find(ctx); err != nil {
		return false, false, err
	}
	if has, err := d.has(ctx); err != nil || !has || len(d.binding.Status.ConfigMaps) == 0 {
		return err == nil && !has, false, err
	}
	_, state, err := d.places.Secrets.Find(ctx, d.binding, owned.ConfigMap, d.name())
	if err != nil {
		return false, false, err
	}
	part = state != owned.Own && fetchable
	d.written.unpublished = new(state != owned.Own && !fetchable)
	return part, part, nil
}

// has says that the binding's own Secret holds its credentials, or those that are about to
// succeed them. An object that is older than the Secret says nothing of that: it is read
// again. The API server is asked, for a call that only reads is made without an intent.
func (d *Deposit) has(ctx context.Context) (bool, error) {
	if !d.is(owned.Own) {
		return false, nil
	}
	next := d.binding.Status.Rotation
	succeeds := next != nil && next.Role == v1beta1.RotationSuccessor && next.ExternalID == d.holding.ID && next.CurrentOperation != v1beta1.BindingUnbind
	if d.holding.ID == "" || d.holding.ID == lifecycle.InForce(d.binding) || succeeds {
		return true, nil
	}
	return false, d.places.Current(ctx, d.binding)
}

// Recover checks whether the Secret has the credentials of a bind with an ID at the broker
// whose outcome was not recorded because of a crash, and whether the response had
// facts that only status would hold (toldMore).
func (d *Deposit) Recover(ctx context.Context, id string) (stored, toldMore bool, err error) {
	if err := d.Find(ctx); err != nil || !d.is(owned.Own) {
		return false, false, err
	}
	if stored, toldMore = d.Stored(id); !stored || !credentials.Publishes(d.binding) {
		return stored, toldMore, nil
	}
	_, state, err := d.places.Secrets.Find(ctx, d.binding, owned.ConfigMap, d.name())
	d.written.published = new(state == owned.Own)
	return stored, toldMore, err
}

// Stored says that the Secret that was found has the credentials of an ID at the broker, and
// whether the response had facts that only status would hold (toldMore).
func (d *Deposit) Stored(id string) (stored, toldMore bool) {
	if id == "" || d.holding.ID != id {
		return false, false
	}
	d.issued = d.holding.State(d.binding)
	return true, d.holding.ToldInStatus
}
