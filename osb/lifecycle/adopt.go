package lifecycle

import (
	"fmt"
	"time"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Reasons of an adoption that was asked for.
const (
	// ReasonAdoptedOnTrust is that of a resource whose broker cannot be asked for it.
	ReasonAdoptedOnTrust = "AdoptedOnTrust"
	// ReasonNotAtBroker is that of a resource of which its broker knows nothing.
	ReasonNotAtBroker = "NotAtBroker"
	// ReasonCredentialsMissing is that of a binding whose credentials its broker does not give,
	// and whose Secret does not hold them.
	ReasonCredentialsMissing = "CredentialsMissing"
)

var trustedMessages = map[Kind]string{
	Instance: "its broker does not let itself be asked for an instance (instances_retrievable is not true): " +
		"that it is there, and is what spec says, is taken on trust",
	Binding: "its broker does not let itself be asked for a binding (bindings_retrievable is not true): " +
		"that it is there, and that its credentials are those in the Secret, is taken on trust",
}

// unadopted says whether what the broker has is still to be adopted, or the credentials of
// an adopted binding are lost: they are never bound again.
func (n next) unadopted() bool {
	t, f := n.resource, n.facts
	r := &t.Record
	return t.Adopts() && (!r.Exists || t.Kind == Binding && (f.SecretLost || r.FetchRequired || r.Operation != NoOperation))
}

// adopt fetches the resource from the broker. If the broker cannot be asked, no call
// is made: a request to provision or bind would succeed if the same exists, and would make
// one if none does.
func (n next) adopt() Decision {
	t, f := n.resource, n.facts
	if f.Fetchable {
		r := t.Record
		r.ID = t.id()
		return n.retryable(Decision{Step: Fetch, Record: r})
	}
	if t.Kind == Binding && !f.Stored {
		return n.unsupplied()
	}
	return n.trust()
}

// trust adopts the resource without reading it from the broker.
func (n next) trust() Decision {
	t, f := n.resource, n.facts
	r := t.Record
	r.ID = t.id()
	r.Operation, r.Async, r.Key, r.FetchRequired = NoOperation, false, nil, false
	r.Started, r.Deadline, r.NextRetry, r.Retries = time.Time{}, time.Time{}, time.Time{}, 0
	r.Exists, r.Absent, r.Refused = true, false, ""
	r.InProgress, r.Applied = nil, t.found(f.Desired, "")
	r.ObservedGeneration, r.ReconciledGeneration = t.Generation, t.Generation
	message := trustedMessages[t.Kind]
	r.report(f.Now).resolve(f.Desired.Rule)
	r.report(f.Now).succeed(ReasonAdoptedOnTrust, message)
	return Decision{Step: Rest, Record: r, Event: &Event{Warning: true, Reason: ReasonAdoptedOnTrust, Message: message}}
}

// unsupplied: the credentials of a binding are nowhere. They are not bound: that could make
// others.
func (n next) unsupplied() Decision {
	t := n.resource
	message := "its broker does not let itself be asked for a binding (bindings_retrievable is not true), and the Secret does not hold its credentials: " + supply(t, n.facts)
	d := n.stop(ReasonCredentialsMissing, message)
	d.Record.ID = t.id()
	d.Event = &Event{Warning: true, Reason: ReasonCredentialsMissing, Message: message}
	return d
}

// supply says how a binding gets credentials that its broker does not give.
func supply(t *Resource, f *Facts) string {
	renew := "delete this object and create it again without ID and annotation"
	if t.Record.Exists {
		renew = "raise spec.rotation.requests"
	}
	return fmt.Sprintf("write them to the Secret %q, with the annotation %s=%s and without an owner; or, for new ones, %s",
		f.SecretName, v1beta1.AnnotationCredentialsOf, t.id(), renew)
}

// supplied says whether the credentials that were missing are there by now, or others, which
// changes no spec.
func (n next) supplied() bool {
	t, f := n.resource, n.facts
	ready, _ := t.Record.told(v1beta1.ConditionReady)
	there := t.Adopts() && f.Stored || t.Record.Exists && !f.SecretLost
	return f.Problem == nil && there && ready.Reason == ReasonCredentialsMissing
}
