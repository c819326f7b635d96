package lifecycle

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A Resource is an instance or binding as it is stored.
type Resource struct {
	Kind       Kind
	Generation int64
	// SpecID is spec.externalID; Minted says that admission generated it for
	// this object. Orphan mitigation only applies to such an ID.
	SpecID string
	Minted bool
	// Deleting says that the object is being deleted, Abandoned that its broker
	// must not be called, and DeprovisionAdopted that an adopted resource is to
	// be deprovisioned, too.
	Deleting, Abandoned, DeprovisionAdopted bool
	// Adopting says that the user wants what exists to be adopted, and nothing to be
	// provisioned or bound.
	Adopting bool
	// Rotating says that it is the other binding of a rotation, not the current
	// one.
	Rotating bool
	Record   Record
}

// Recognize replaces the retired catalog's checksum of the desired parameters
// by ours.
func (t *Resource) Recognize(desired *Desired, retiredChecksum string) {
	for _, request := range []*Request{t.Record.Applied, t.Record.InProgress} {
		if request != nil && request.Retired && request.ParameterChecksum == retiredChecksum {
			request.ParameterChecksum, request.Retired = desired.ParameterChecksum, false
		}
	}
}

// OfRetired says that the retired catalog recorded what was sent, and that it is to be
// recognized.
func (t *Resource) OfRetired() bool {
	r := &t.Record
	return r.Applied != nil && r.Applied.Retired || r.InProgress != nil && r.InProgress.Retired
}

// id is the ID for the next call.
func (t *Resource) id() string {
	if t.Record.ID != "" {
		return t.Record.ID
	}
	return t.SpecID
}

// takeOverID has the ID in spec be the one in force where the retired catalog, which stored
// no other, began an operation or ended one.
func (t *Resource) takeOverID() {
	r := &t.Record
	if r.Operation != NoOperation || r.Exists || r.Mitigating || r.DeprovisionStatus == DeprovisionRequired {
		r.ID = t.id()
	}
}

// own says whether the current ID was generated for this object, by admission
// or later by the controller, or is still to be.
func (t *Resource) own() bool { return t.Minted || t.SpecID == "" || t.id() != t.SpecID }

// mustDeprovision says whether the deletion has to reach the broker.
func (t *Resource) mustDeprovision() bool {
	r := &t.Record
	switch {
	case r.DeprovisionStatus == DeprovisionRequired || r.Mitigating:
		return true
	case t.DeprovisionAdopted:
		return r.Exists || r.Operation == Provisioning
	}
	return false
}

// edited says whether the spec changed since the last call: an earlier failure
// no longer delays the next one.
func (t *Resource) edited() bool {
	return t.Generation != t.Record.ObservedGeneration && !t.Deleting && !t.Record.Mitigating && !t.Record.Async
}

// asksFirst says whether a new binding was created asynchronously, and its
// credentials were not fetched yet.
func (t *Resource) asksFirst() bool {
	r := &t.Record
	return t.Kind == Binding && r.FetchRequired && !r.Exists && r.Started.IsZero()
}

// left says what stays at the broker of a resource for which nothing must be deprovisioned; empty: nothing.
func (t *Resource) left() string {
	if t.Record.Exists || t.Record.InProgress != nil {
		return "its ID at the broker was not made for it: what is there under that ID stays"
	}
	return ""
}

// leavesPlan says whether the desired plan is another than the one that the
// broker is known to have. A change back to that one is allowed, also after an
// update of unknown outcome.
func (t *Resource) leavesPlan(desired *Desired) bool {
	has := t.Record.Applied
	return has != nil && has.PlanExternalID != desired.PlanExternalID
}

// storable is the request as status can store it, so that a stored request is
// comparable with the desired one.
func (t *Resource) storable(desired *Desired) Request {
	request := desired.Request
	if t.Kind == Instance {
		request.InstanceID = ""
		return request
	}
	request.PlanName, request.Cluster, request.ContextChecksum, request.MaintenanceVersion, request.UpdateRequests = "", false, "", "", 0
	return request
}

// repeats says whether the request equals the one whose outcome is unknown.
func (t *Resource) repeats(desired *Desired) bool {
	return t.Record.InProgress != nil && t.Record.InProgress.same(new(t.storable(desired)))
}

// sends returns the request of a step. An update keeps the maintenance version unless a
// new one was requested.
func (t *Resource) sends(desired *Desired, step Step) *Request {
	request := t.storable(desired)
	if step == Update && t.Record.Applied != nil && !t.Changes(desired).Maintenance {
		request.MaintenanceVersion = t.Record.Applied.MaintenanceVersion
	}
	return &request
}

// atRest says whether the record of a resource that matches its spec reports
// so.
func (t *Resource) atRest() bool {
	r := &t.Record
	return t.Generation == r.ObservedGeneration && r.holds(v1beta1.ConditionReady) && r.Operation == NoOperation &&
		r.Retries == 0 && r.NextRetry.IsZero() && !r.holds(v1beta1.ConditionReconciling)
}

// Adopts says that what the broker has is taken over as it is and that nothing is ever
// provisioned or bound: the user asked for that with an ID that was not minted for this
// object, and no request of this object made anything under it.
func (t *Resource) Adopts() bool {
	return t.Adopting && !t.own() && t.Record.DeprovisionStatus != DeprovisionRequired
}

// found is the applied request of a resource that equals the desired one. An instance's
// maintenance version is the broker's, not the catalog's, so that the next
// requested update sets the catalog's.
func (t *Resource) found(desired *Desired, version string) *Request {
	request := t.storable(desired)
	if version != "" || t.Kind == Instance && t.Adopts() {
		request.MaintenanceVersion = version
	}
	return &request
}

// done returns the reason and message for a resource that matches its spec.
func (t *Resource) done() (reason, message string) {
	w := words(t.Kind, Provision)
	ready, _ := v1beta1.FindCondition(t.Record.Conditions, v1beta1.ConditionReady)
	switch {
	case t.Kind == Binding && (ready.Reason == w.done || ready.Reason == ReasonAdopted):
		return ready.Reason, ready.Message // which may be that the Secret is empty
	case t.own() || t.Record.DeprovisionStatus == DeprovisionRequired:
		return w.done, w.doneMessage
	case ready.Reason == ReasonAdoptedOnTrust:
		return ready.Reason, trustedMessages[t.Kind]
	}
	return ReasonAdopted, adoptedMessage
}

// Parted says whether nothing is left at the broker of a resource that is being
// deleted, or it was abandoned: its dedicated instance can be deleted.
func (t *Resource) Parted() bool {
	r := &t.Record
	return t.Deleting && !t.mustDeprovision() && !r.Exists && r.InProgress == nil && r.Operation == NoOperation
}

// passedOn says whether the recorded failure is that of the dedicated instance.
func (t *Resource) passedOn() bool { return t.Record.Refused == ofInstance }

// describe copies what instances and bindings have in the same places.
func (t *Resource) describe(o metav1.Object) {
	annotations := o.GetAnnotations()
	t.Generation = o.GetGeneration()
	t.Minted = t.SpecID != "" && annotations[v1beta1.AnnotationMintedExternalID] == t.SpecID
	t.Deleting = o.GetDeletionTimestamp() != nil
	t.Abandoned = annotations[v1beta1.AnnotationAbandon] == "true"
	t.DeprovisionAdopted = annotations[v1beta1.AnnotationDeprovisionAdopted] == "true"
	t.Adopting = annotations[v1beta1.AnnotationAdopt] == "true"
}
