package lifecycle

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Reasons of the condition CredentialsCurrent, and of events of a rotation.
const (
	// ReasonCredentialsCurrent: they are valid, and will be replaced in time if at all.
	ReasonCredentialsCurrent = "Current"
	// ReasonCredentialsExpired: the broker takes them no more.
	ReasonCredentialsExpired = "Expired"
	// ReasonRotationLate: the broker wanted them to be replaced by now.
	ReasonRotationLate = "RotationLate"
	// ReasonRotationFailed: they could not be replaced, and it is tried again.
	ReasonRotationFailed = "RotationFailed"
	// ReasonRotationWaiting: they are to be replaced, and cannot be now.
	ReasonRotationWaiting = "RotationWaiting"
	// ReasonCredentialsRotated is that of the event of new credentials.
	ReasonCredentialsRotated = "CredentialsRotated"
	// ReasonFormerRemoved is that of the event of the end of the former ones.
	ReasonFormerRemoved = "FormerCredentialsRemoved"
	// ReasonFormerNotRemoved is that of a try to end them that failed.
	ReasonFormerNotRemoved = "FormerCredentialsNotRemoved"
)

// triesToRotate is how often a rotation fails before the condition says so. What was
// refused for good counts as so many, for the same would be refused again.
const triesToRotate = 6

func rotated() *Event {
	return &Event{Reason: ReasonCredentialsRotated, Message: "the Secret has new credentials; the former ones stay valid for the overlap"}
}

// Rotates is the outcome of a call for the other binding: what was refused for good is
// tried again after some time, for the credentials in force do not last; and what is
// told of it is told as of a rotation.
func (o *Outcome) Rotates(role v1beta1.RotationRole, f *Facts) {
	r := &o.Record
	if r.Refused != "" {
		r.Retries = max(r.Retries+1, triesToRotate)
		if !r.Mitigating {
			r.NextRetry = f.Now.Add(f.Backoff(r.Retries, 0))
		}
	}
	switch {
	case o.Event == nil || o.Event.Reason == reasonPoll: // which is no failure of the rotation
	case role == v1beta1.RotationPredecessor && o.Event.Warning:
		o.Event.Reason = ReasonFormerNotRemoved
	case role == v1beta1.RotationPredecessor && o.Release:
		o.Event = &Event{Reason: ReasonFormerRemoved, Message: "the former credentials were removed at the broker"}
	case r.Exists:
		o.Event = rotated()
	case o.Event.Warning:
		o.Event.Reason = ReasonRotationFailed
	}
}

// Current is the condition that says whether a binding's credentials are valid and were
// replaced in time; false where nothing is to be said: they do not expire.
func (r Rotating) Current(b *v1beta1.ServiceBinding, now time.Time) (v1beta1.Condition, bool) {
	c := credentialsOf(b)
	renew, expires := timeOf(c.RenewBefore), timeOf(c.ExpiresAt)
	never := b.Spec.Rotation != nil && b.Spec.Rotation.Policy == v1beta1.RotationNever
	next := &v1beta1.BindingRotation{}
	if s := b.Status.Rotation; s != nil && s.Role == v1beta1.RotationSuccessor {
		next = s
	}
	says := func(status v1beta1.ConditionStatus, reason, message string) (v1beta1.Condition, bool) {
		if status != v1beta1.ConditionTrue && next.Message != "" {
			message += ": " + next.Message
		}
		return v1beta1.Condition{Type: v1beta1.ConditionCredentialsCurrent, Status: status, Reason: reason, Message: message}, true
	}
	switch {
	case !expires.IsZero() && !now.Before(expires):
		return says(v1beta1.ConditionFalse, ReasonCredentialsExpired, "the credentials expired at "+moment(expires))
	case next.Retries >= triesToRotate:
		return says(v1beta1.ConditionFalse, ReasonRotationFailed, "the credentials could not be replaced")
	case renew.After(c.IssuedAt.Time) && !now.Before(renew) && !never:
		return says(v1beta1.ConditionFalse, ReasonRotationLate, "the credentials were to be replaced before "+moment(renew))
	case next.CurrentOperation == "" && next.Retries == 0 && !next.FetchRequired && next.Message != "":
		return says(v1beta1.ConditionUnknown, ReasonRotationWaiting, "the credentials are to be replaced, which has to wait")
	case expires.IsZero() && renew.IsZero():
		return v1beta1.Condition{}, false
	case expires.IsZero():
		return says(v1beta1.ConditionTrue, ReasonCredentialsCurrent, "the credentials are replaced before "+moment(renew))
	case never:
		return says(v1beta1.ConditionTrue, ReasonCredentialsCurrent, fmt.Sprintf("the credentials are valid until %s, and are not replaced: spec.rotation.policy is Never", moment(expires)))
	}
	return says(v1beta1.ConditionTrue, ReasonCredentialsCurrent, fmt.Sprintf("the credentials are valid until %s, and are replaced before", moment(expires)))
}

func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Dated is a binding's status with the condition CredentialsCurrent as it is at a time, and
// with credentials that were issued by then.
func (r Rotating) Dated(b *v1beta1.ServiceBinding, now time.Time) v1beta1.ServiceBindingStatus {
	status := b.Status
	if c := status.Credentials; c != nil && timeOf(c.IssuedAt).After(now) {
		// A clock ahead of this one wrote it. It is stored, so that what counts from it comes.
		known := *c
		known.IssuedAt = storedDown(now)
		status.Credentials = &known
	}
	current, is := r.Current(b, now)
	if b.Status.ExternalProperties == nil || !is {
		if _, has := v1beta1.FindCondition(status.Conditions, v1beta1.ConditionCredentialsCurrent); has {
			status.Conditions = v1beta1.RemoveCondition(status.Conditions, v1beta1.ConditionCredentialsCurrent)
		}
		return status
	}
	status.Conditions = v1beta1.SetCondition(status.Conditions, current, b.Status.ObservedGeneration, metav1.Time{Time: now.Truncate(time.Second)})
	return status
}

// NewCredentials is what is known of credentials that were stored just now, as those of an
// ID that may have been in force before: then they are as old as they were. Requests is the
// spec.rotation.requests that they serve.
func NewCredentials(b *v1beta1.ServiceBinding, id string, requests int64, now, expires, renew time.Time) *v1beta1.CredentialsState {
	c := &v1beta1.CredentialsState{IssuedAt: storedDown(now), ExpiresAt: storedDown(expires), RenewBefore: storedDown(renew), Requests: requests}
	before := b.Status.Credentials
	if before == nil || id != InForce(b) || b.Status.ExternalProperties == nil {
		return c
	}
	c.IssuedAt, c.Requests, c.Predecessor = before.IssuedAt, before.Requests, before.Predecessor
	if c.ExpiresAt == nil {
		c.ExpiresAt, c.RenewBefore = before.ExpiresAt, before.RenewBefore
	}
	return c
}

// storedDown is a time as status holds it, never later than it is.
func storedDown(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &metav1.Time{Time: t.Truncate(time.Second)}
}
