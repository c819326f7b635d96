package lifecycle

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// OfRotation is the Resource that the other binding of a rotation is: the one that status
// holds, or one that is still to be made. A successor is always this object's own; it is
// given up before anything was made of it where none is needed any more. A predecessor
// is to be removed: Turn says from when on.
func (r Rotating) OfRotation(b *v1beta1.ServiceBinding, now time.Time) Resource {
	stored := b.Status.Rotation
	if stored == nil {
		stored = &v1beta1.BindingRotation{Role: v1beta1.RotationSuccessor}
	}
	t := Resource{Kind: Binding, Rotating: true, Record: recordOfRotation(stored)}
	predecessor := stored.Role == v1beta1.RotationPredecessor
	if predecessor {
		t.SpecID = b.Spec.ExternalID
	}
	t.describe(b)
	t.Deleting = t.Deleting || predecessor || !t.Record.busyAtBroker() && !r.needed(b, now)
	t.Record.ObservedGeneration, t.Record.ReconciledGeneration = t.Generation, t.Generation
	if stored.Retries > 0 && stored.Message != "" {
		t.Record.report(now).set(v1beta1.NotReady(ReasonRotationFailed, stored.Message))
	}
	return t
}

// recordOfRotation is the record of the other binding. That it was refused is told by
// its tries: it is asked for again, but not soon.
func recordOfRotation(s *v1beta1.BindingRotation) Record {
	over := v1beta1.ServiceBindingStatus{
		AsyncOpInProgress: s.AsyncOpInProgress, LastOperation: s.LastOperation, CurrentOperation: s.CurrentOperation,
		OrphanMitigationInProgress: s.OrphanMitigationInProgress, OperationStartTime: s.OperationStartTime, CallDeadline: s.CallDeadline,
		Retries: s.Retries, NextRetry: s.NextRetry, FetchRequired: s.FetchRequired, UnbindStatus: s.UnbindStatus,
		ExternalID: s.ExternalID, InProgressProperties: s.InProgressProperties, ExternalProperties: s.ExternalProperties,
	}
	return OfBinding(&v1beta1.ServiceBinding{Status: over}).Record
}

// rotationOf is what status holds of a record of the other binding.
func rotationOf(r *Record, role v1beta1.RotationRole) *v1beta1.BindingRotation {
	s := r.BindingStatus(v1beta1.ServiceBindingStatus{})
	ready, _ := v1beta1.FindCondition(r.Conditions, v1beta1.ConditionReady)
	return &v1beta1.BindingRotation{
		Role: role, Message: ready.Message,
		AsyncOpInProgress: s.AsyncOpInProgress, LastOperation: s.LastOperation, CurrentOperation: s.CurrentOperation,
		OrphanMitigationInProgress: s.OrphanMitigationInProgress, OperationStartTime: s.OperationStartTime, CallDeadline: s.CallDeadline,
		Retries: s.Retries, NextRetry: s.NextRetry, FetchRequired: s.FetchRequired, UnbindStatus: s.UnbindStatus, RefusedRequest: s.RefusedRequest,
		ExternalID: s.ExternalID, InProgressProperties: s.InProgressProperties, ExternalProperties: s.ExternalProperties,
	}
}

// A Switch is what is known when the Secret has the credentials of a successor.
type Switch struct {
	// Issued is what is known of their age.
	Issued *v1beta1.CredentialsState
	// Now is when they were stored.
	Now time.Time
}

// RotationStatus is the status of a binding whose other binding has a record. A successor
// that exists is in force from then on: the Secret has its credentials. The one that was
// in force is then its predecessor. Status is written once for both.
func (r Rotating) RotationStatus(b *v1beta1.ServiceBinding, record *Record, s Switch) v1beta1.ServiceBindingStatus {
	status := b.Status
	role := v1beta1.RotationSuccessor
	var removeAfter *metav1.Time
	if status.Rotation != nil {
		role, removeAfter = status.Rotation.Role, status.Rotation.RemoveAfter
	}
	if role == v1beta1.RotationPredecessor || !record.Exists {
		status.Rotation = rotationOf(record, role)
		status.Rotation.RemoveAfter = removeAfter
		return status
	}
	former := OfBinding(b).Record
	former.ID, former.InProgress = InForce(b), nil
	status.Rotation = rotationOf(&Record{ID: former.ID, DeprovisionStatus: former.DeprovisionStatus, Exists: true, Applied: former.Applied}, v1beta1.RotationPredecessor)
	status.Rotation.RemoveAfter = storedTime(r.overlaps(b, s.Now))
	status.ExternalID, status.UnbindStatus = record.ID, v1beta1.UnbindRequired
	status.ExternalProperties = bindingProperties(takenOver(record.Applied, former.Applied, former.ID))
	status.Credentials = tookOver(s.Issued, record.Applied, former.ID)
	return status
}

// RotationDone is the status of a binding whose other binding is no more.
func RotationDone(b *v1beta1.ServiceBinding) v1beta1.ServiceBindingStatus {
	status := b.Status
	status.Rotation = nil
	return status
}

// InForce is the ID at the broker of the binding whose credentials are in force.
func InForce(b *v1beta1.ServiceBinding) string {
	return cmp.Or(b.Status.ExternalID, b.Spec.ExternalID)
}

// Succeeding is what a broker is asked for that lets credentials be replaced by those of
// a successor: it gives the parameters of the binding in force, and is told none. The
// sum that stands for them tells such a request from any other.
func Succeeding(b *v1beta1.ServiceBinding, s Request) Request {
	s.ParameterChecksum, s.Parameters = sumOfPredecessor(InForce(b)), nil
	return s
}

// SuccessorOf is the predecessor that a request names; empty: none.
func SuccessorOf(b *v1beta1.ServiceBinding, s *Request) string {
	if id := InForce(b); s.ParameterChecksum == sumOfPredecessor(id) {
		return id
	}
	return ""
}

func sumOfPredecessor(id string) string {
	sum := sha256.Sum256([]byte("predecessor_binding_id " + id))
	return hex.EncodeToString(sum[:])
}

// takenOver is what a broker accepted, with the parameters that it took over.
func takenOver(applied, former *Request, formerID string) *Request {
	if applied == nil || former == nil || applied.ParameterChecksum != sumOfPredecessor(formerID) {
		return applied
	}
	s := *applied
	s.Parameters, s.ParameterChecksum = former.Parameters, former.ParameterChecksum
	return &s
}

// tookOver is what is known of credentials, with the predecessor that their request named.
func tookOver(issued *v1beta1.CredentialsState, applied *Request, formerID string) *v1beta1.CredentialsState {
	if applied == nil || applied.ParameterChecksum != sumOfPredecessor(formerID) {
		return issued
	}
	c := v1beta1.CredentialsState{}
	if issued != nil {
		c = *issued
	}
	c.Predecessor = formerID
	return &c
}

// Repeating is what a broker was asked for that let the binding in force take over from a
// predecessor, and the ID of that; false: it took over from none. The parameters are those
// of the predecessor, and are not sent.
func Repeating(b *v1beta1.ServiceBinding, s Request) (repeated Request, predecessor string, took bool) {
	known, has := b.Status.Credentials, b.Status.ExternalProperties
	if known == nil || known.Predecessor == "" || has == nil {
		return s, "", false
	}
	s.Parameters, s.ParameterChecksum = has.Parameters, has.ParameterChecksum
	return s, known.Predecessor, true
}
