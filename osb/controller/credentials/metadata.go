package credentials

import (
	"maps"
	"strconv"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// Metadata is what a Secret's annotations say: the ID of its credentials, and
// how long they are valid. The zero value is that of an older Secret without
// these annotations, which holds the current credentials.
type Metadata struct {
	// ID is the binding's ID at the broker.
	ID string
	// IssuedAt is when they were stored; ExpiresAt and RenewBefore are the broker's times, or
	// zero.
	IssuedAt, ExpiresAt, RenewBefore time.Time
	// Requests is the spec.rotation.requests that they serve: one that was raised since the
	// Secret was written asks for others.
	Requests int64
	// ToldInStatus says that facts that came with them are only in status.
	ToldInStatus bool
}

// MetadataOf reads a Secret's annotations; nil: there is no Secret.
func MetadataOf(secret client.Object) Metadata {
	if secret == nil {
		return Metadata{}
	}
	said := secret.GetAnnotations()
	requests, err := strconv.ParseInt(said[v1beta1.AnnotationRotationRequests], 10, 64)
	if err != nil { // absent, or not written by the controller: it is served once more
		requests = 0
	}
	return Metadata{
		Requests:     requests,
		ToldInStatus: said[v1beta1.AnnotationToldInStatus] == "true",
		ID:           said[v1beta1.AnnotationCredentialsOf], IssuedAt: momentOf(said[v1beta1.AnnotationIssuedAt]),
		ExpiresAt: momentOf(said[v1beta1.AnnotationExpiresAt]), RenewBefore: momentOf(said[v1beta1.AnnotationRenewBefore]),
	}
}

func momentOf(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// Annotate writes it to a Secret's annotations.
func (h Metadata) Annotate(secret client.Object) {
	says := map[string]string{}
	maps.Copy(says, secret.GetAnnotations())
	say := func(key string, at time.Time) {
		if delete(says, key); !at.IsZero() {
			says[key] = at.UTC().Format(time.RFC3339)
		}
	}
	if h.ID != "" {
		says[v1beta1.AnnotationCredentialsOf] = h.ID
	}
	say(v1beta1.AnnotationIssuedAt, h.IssuedAt)
	say(v1beta1.AnnotationExpiresAt, h.ExpiresAt)
	say(v1beta1.AnnotationRenewBefore, h.RenewBefore)
	if delete(says, v1beta1.AnnotationRotationRequests); h.Requests != 0 {
		says[v1beta1.AnnotationRotationRequests] = strconv.FormatInt(h.Requests, 10)
	}
	if delete(says, v1beta1.AnnotationToldInStatus); h.ToldInStatus {
		says[v1beta1.AnnotationToldInStatus] = "true"
	}
	secret.SetAnnotations(says)
}

// State is the status of the credentials.
func (h Metadata) State(b *v1beta1.ServiceBinding) *v1beta1.CredentialsState {
	return lifecycle.NewCredentials(b, h.ID, h.Requests, h.IssuedAt, h.ExpiresAt, h.RenewBefore)
}
