package controller

import (
	"context"
	"maps"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// A holding says whose credentials a Secret holds, and how long they last: what its
// annotations say. The zero holding is that of a Secret of before there were such
// annotations, which holds those of the binding in force.
type holding struct {
	// id is the binding's ID at the broker.
	id string
	// at is when they were stored; expires and renew are the broker's times, or zero.
	at, expires, renew time.Time
	// requests is the spec.rotation.requests that they serve: one that was raised since the
	// Secret was written asks for others.
	requests int64
}

// holdingOf reads a Secret's annotations; nil: there is no Secret.
func holdingOf(secret client.Object) holding {
	if secret == nil {
		return holding{}
	}
	said := secret.GetAnnotations()
	requests, err := strconv.ParseInt(said[v1beta1.AnnotationRotationRequests], 10, 64)
	if err != nil { // absent, or somebody's: it is served once more
		requests = 0
	}
	return holding{
		requests: requests,
		id:       said[v1beta1.AnnotationCredentialsOf], at: momentOf(said[v1beta1.AnnotationIssuedAt]),
		expires: momentOf(said[v1beta1.AnnotationExpiresAt]), renew: momentOf(said[v1beta1.AnnotationRenewBefore]),
	}
}

func momentOf(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// annotate writes it to a Secret's annotations.
func (h holding) annotate(secret client.Object) {
	says := map[string]string{}
	maps.Copy(says, secret.GetAnnotations())
	say := func(key string, at time.Time) {
		if delete(says, key); !at.IsZero() {
			says[key] = at.UTC().Format(time.RFC3339)
		}
	}
	if h.id != "" {
		says[v1beta1.AnnotationCredentialsOf] = h.id
	}
	say(v1beta1.AnnotationIssuedAt, h.at)
	say(v1beta1.AnnotationExpiresAt, h.expires)
	say(v1beta1.AnnotationRenewBefore, h.renew)
	if delete(says, v1beta1.AnnotationRotationRequests); h.requests != 0 {
		says[v1beta1.AnnotationRotationRequests] = strconv.FormatInt(h.requests, 10)
	}
	secret.SetAnnotations(says)
}

// issued is what status says of the credentials.
func (h holding) issued(b *v1beta1.ServiceBinding) *v1beta1.CredentialsState {
	return lifecycle.NewCredentials(b, h.id, h.requests, h.at, h.expires, h.renew)
}

// holdingOf is what a Secret is to say of credentials that are given now. Those that it had
// serve what they served.
func (s *bindingSubject) holdingOf(given *osb.Binding) holding {
	h := holding{id: s.id, at: s.clock.Now(), expires: given.ExpiresAt, renew: given.RenewBefore}
	switch rotation := s.binding.Spec.Rotation; {
	case s.holding.id == s.id:
		h.requests = s.holding.requests
	case rotation != nil:
		h.requests = rotation.Requests
	}
	return h
}

// has says that the binding's own Secret holds its credentials, or those that are about to
// succeed them. An object that is older than the Secret says nothing of that: it is read
// again. The API server is asked, for a call that only reads is made without an intent.
func (s *bindingSubject) has(ctx context.Context) (bool, error) {
	b := s.binding
	if *s.secret != secretOwned {
		return false, nil
	}
	next := b.Status.Rotation
	succeeds := next != nil && next.Role == v1beta1.RotationSuccessor && next.ExternalID == s.holding.id && next.CurrentOperation != v1beta1.BindingUnbind
	if s.holding.id == "" || s.holding.id == lifecycle.InForce(b) || succeeds {
		return true, nil
	}
	var fresh v1beta1.ServiceBinding
	if err := s.store.live.Get(ctx, client.ObjectKeyFromObject(b), &fresh); err != nil {
		return false, err
	}
	if fresh.ResourceVersion != b.ResourceVersion {
		return false, apierrors.NewConflict(schema.GroupResource{Group: v1beta1.GroupName, Resource: "servicebindings"}, b.Name, errStale)
	}
	return false, nil
}

// date writes into a status how old the credentials are, and whether they are current.
func (s *bindingSubject) date(next *v1beta1.ServiceBinding, record *lifecycle.Record) {
	switch {
	case !record.Exists:
		next.Status.Credentials = nil
	case s.issued != nil:
		next.Status.Credentials = s.issued
	}
	next.Status = s.rotating.Dated(next, s.now)
}
