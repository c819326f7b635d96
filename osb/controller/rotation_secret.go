package controller

import (
	"context"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/credentials"
	"github.com/defaultplan/defaultplan/osb/controller/owned"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// holdingOf is the metadata that a Secret gets for new credentials. Credentials
// of the same ID keep the count of rotation requests that they served.
func (s *bindingResource) holdingOf(given *osb.Binding) credentials.Metadata {
	h := credentials.Metadata{ID: s.id, IssuedAt: s.engine.clock.Now(), ExpiresAt: given.ExpiresAt, RenewBefore: given.RenewBefore}
	switch rotation := s.binding.Spec.Rotation; {
	case s.holding.ID == s.id:
		h.Requests = s.holding.Requests
	case rotation != nil:
		h.Requests = rotation.Requests
	}
	return h
}

// has says that the binding's own Secret holds its credentials, or those that are about to
// succeed them. An object that is older than the Secret says nothing of that: it is read
// again. The API server is asked, for a call that only reads is made without an intent.
func (s *bindingResource) has(ctx context.Context) (bool, error) {
	b := s.binding
	if *s.secret != owned.Own {
		return false, nil
	}
	next := b.Status.Rotation
	succeeds := next != nil && next.Role == v1beta1.RotationSuccessor && next.ExternalID == s.holding.ID && next.CurrentOperation != v1beta1.BindingUnbind
	if s.holding.ID == "" || s.holding.ID == lifecycle.InForce(b) || succeeds {
		return true, nil
	}
	return false, s.engine.store.current(ctx, b)
}

// date writes the age of the credentials into a status, and whether they are
// current.
func (s *bindingResource) date(next *v1beta1.ServiceBinding, record *lifecycle.Record) {
	switch {
	case !record.Exists:
		next.Status.Credentials = nil
	case s.issued != nil:
		next.Status.Credentials = s.issued
	}
	next.Status = s.rotating.Dated(next, s.now)
}
