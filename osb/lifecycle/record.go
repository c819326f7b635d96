package lifecycle

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A Kind is what a Resource is.
type Kind int

// The kinds of resources that are made at a broker.
const (
	Instance Kind = iota
	Binding
)

// An Operation is the last operation that was requested from a broker.
type Operation int

// The operations. Provisioning stands for binding too, and Deprovisioning for
// unbinding; a binding is never updated.
const (
	NoOperation Operation = iota
	Provisioning
	Updating
	Deprovisioning
)

// A DeprovisionStatus says whether deletion must remove something at the broker.
type DeprovisionStatus int

// The values are named as in status.deprovisionStatus of instances.
const (
	// DeprovisionNotRequired: nothing that this object created exists.
	DeprovisionNotRequired DeprovisionStatus = iota
	// DeprovisionRequired: something exists, or may exist.
	DeprovisionRequired
	// DeprovisionSucceeded: it was removed.
	DeprovisionSucceeded
)

// A Request is what was sent to a broker, or is to be sent.
type Request struct {
	v1beta1.BrokerTarget

	// PlanName is the external name of the plan, and Cluster says that the plan is
	// cluster-scoped: for old clients.
	PlanName string
	Cluster  bool
	// PlanRefName is the Kubernetes name of the plan; for instances. Records of older
	// releases have none.
	PlanRefName string
	// InstanceID is the instance's ID at the broker; for bindings.
	InstanceID string
	// Parameters are for display, with every value from a Secret redacted.
	Parameters *runtime.RawExtension
	// ParameterChecksum and ContextChecksum are SHA-256 sums in hexadecimal digits.
	ParameterChecksum, ContextChecksum string
	// Retired says that ParameterChecksum is a sum of the retired catalog; for instances.
	Retired            bool
	MaintenanceVersion string
	UpdateRequests     int64
	User               *v1beta1.UserInfo
}

// same says that two requests would have the same body.
func (s *Request) same(other *Request) bool {
	return s.BrokerTarget == other.BrokerTarget && s.InstanceID == other.InstanceID &&
		s.ParameterChecksum == other.ParameterChecksum && s.ContextChecksum == other.ContextChecksum &&
		s.MaintenanceVersion == other.MaintenanceVersion
}

// A Record is the status of an instance or binding: all state between two
// calls.
type Record struct {
	// Operation runs, or its outcome is not known yet.
	Operation Operation
	// Async says that the broker works on it, under Key if it gave one.
	Async bool
	Key   *string
	// Mitigating says that something of unknown outcome is being removed.
	Mitigating bool
	// KeepsID says that the broker itself answered the request that is undone, so that a
	// removal that it answers at once leaves the ID free for the next try.
	KeepsID bool
	// Started is when Operation began, or the broker took it on; Deadline is until when
	// a call that makes or changes something may still be on its way. Zero where there
	// is none.
	Started, Deadline time.Time
	// Retries counts the failures of the operation; NextRetry is the time of
	// the next attempt, or zero.
	Retries   int32
	NextRetry time.Time

	// ID is the current one at the broker; empty before the first call.
	ID string
	// Exists says that the broker has it. Absent says that the broker said it
	// does not.
	Exists, Absent    bool
	DeprovisionStatus DeprovisionStatus
	// FetchRequired says that the broker has it, and that it must be fetched.
	FetchRequired bool
	// Unusable says that an instance takes no new bindings.
	Unusable     bool
	DashboardURL *string
	// SecretName is the Secret of a binding, once it is complete.
	SecretName string

	// InProgress is what the operation sends; where there is no operation, what was
	// sent and may have been acted on. Applied is what the broker last took.
	InProgress, Applied *Request

	// Refused marks the request that was refused for good; empty: none, or not known.
	Refused string

	Conditions []v1beta1.Condition
	// ObservedGeneration is the generation that was last acted on.
	ObservedGeneration, ReconciledGeneration int64
}

// Target is what a removal or a poll names: the resource as its broker knows
// it. Nil if nothing was ever sent.
func (r *Record) Target() *Request {
	if r.Applied != nil {
		return r.Applied
	}
	return r.InProgress
}

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
	// Adopting says that the user wants an existing instance to be adopted, and
	// none to be provisioned; for instances.
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
