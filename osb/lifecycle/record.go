package lifecycle

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A Kind is what a Thing is.
type Kind int

// The kinds of things that are made at a broker.
const (
	Instance Kind = iota
	Binding
)

// An Operation is what a broker was last asked to do.
type Operation int

// The operations. Making is provisioning or binding, removing is deprovisioning or
// unbinding; a binding is never changed.
const (
	NoOperation Operation = iota
	Making
	Changing
	Removing
)

// An Owed says whether something is to be removed at the broker at deletion.
type Owed int

// What is owed at deletion.
const (
	// NotOwed: nothing of this object's making is there.
	NotOwed Owed = iota
	// IsOwed: something is there, or may be.
	IsOwed
	// WasPaid: it was removed.
	WasPaid
)

// A Sent is what a broker was sent, or is to be sent.
type Sent struct {
	v1beta1.BrokerTarget

	// PlanName is the external name of the plan, and Cluster says that the plan is
	// cluster-scoped: for old clients.
	PlanName string
	Cluster  bool
	// InstanceID is the instance's ID at the broker; for bindings.
	InstanceID string
	// Parameters are for people to see, with every value from a Secret redacted.
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
func (s *Sent) same(other *Sent) bool {
	return s.BrokerTarget == other.BrokerTarget && s.InstanceID == other.InstanceID &&
		s.ParameterChecksum == other.ParameterChecksum && s.ContextChecksum == other.ContextChecksum &&
		s.MaintenanceVersion == other.MaintenanceVersion
}

// A Record is what status holds of an instance or binding: all that is remembered
// between two calls.
type Record struct {
	// Operation runs, or its outcome is not known yet.
	Operation Operation
	// Async says that the broker works on it, under Key if it gave one.
	Async bool
	Key   *string
	// Mitigating says that something of unknown outcome is being removed.
	Mitigating bool
	// Started is when Operation began, or the broker took it on; Deadline is until when
	// a call that makes or changes something may still be on its way. Zero where there
	// is none.
	Started, Deadline time.Time
	// Retries counts the failures of the operation; NextRetry is when it is tried
	// again, or zero.
	Retries   int32
	NextRetry time.Time

	// ID is the one in force at the broker; empty before the first call.
	ID string
	// Exists says that the broker has it. Absent says that the broker was asked and
	// has not.
	Exists, Absent bool
	Owed           Owed
	// FetchRequired says that the broker has it, and that it must be fetched.
	FetchRequired bool
	// Unusable says that an instance takes no new bindings.
	Unusable     bool
	DashboardURL *string
	// SecretName is the Secret of a binding, once it is complete.
	SecretName string

	// InProgress is what the operation sends; where there is no operation, what was
	// sent and may have been acted on. Accepted is what the broker last took.
	InProgress, Accepted *Sent

	// Refused marks the request that was refused for good; empty: none, or not known.
	Refused string

	Conditions []v1beta1.Condition
	// ObservedGeneration is the generation that was last acted on.
	ObservedGeneration, ReconciledGeneration int64
}

// Target is what a removal or a poll names: the thing as its broker knows it. Nil
// where nothing was ever sent.
func (r *Record) Target() *Sent {
	if r.Accepted != nil {
		return r.Accepted
	}
	return r.InProgress
}

// A Thing is an instance or binding as it is stored.
type Thing struct {
	Kind       Kind
	Generation int64
	// SpecID is spec.externalID; Minted says that admission minted it for this very
	// object. Only what has such an ID is ever mitigated.
	SpecID string
	Minted bool
	// Deleting says that it is to go, Abandoned that its broker is not to be asked,
	// and RemoveAdopted that what was not made for it is to be removed all the same.
	Deleting, Abandoned, RemoveAdopted bool
	// Adopting says that its user wants what the broker has to be taken over, and
	// nothing to be made; for instances.
	Adopting bool
	Record   Record
}

// Recognize replaces the retired catalog's sum of the parameters that are asked for by ours.
func (t *Thing) Recognize(ask *Ask, retiredChecksum string) {
	for _, sent := range []*Sent{t.Record.Accepted, t.Record.InProgress} {
		if sent != nil && sent.Retired && sent.ParameterChecksum == retiredChecksum {
			sent.ParameterChecksum, sent.Retired = ask.ParameterChecksum, false
		}
	}
}

// OfRetired says that the retired catalog recorded what was sent, and that it is to be
// recognized.
func (t *Thing) OfRetired() bool {
	r := &t.Record
	return r.Accepted != nil && r.Accepted.Retired || r.InProgress != nil && r.InProgress.Retired
}

// id is the ID for the next call.
func (t *Thing) id() string {
	if t.Record.ID != "" {
		return t.Record.ID
	}
	return t.SpecID
}

// takeOverID has the ID in spec be the one in force where the retired catalog, which stored
// no other, began an operation or ended one.
func (t *Thing) takeOverID() {
	r := &t.Record
	if r.Operation != NoOperation || r.Exists || r.Mitigating || r.Owed == IsOwed {
		r.ID = t.id()
	}
}

// own says that the ID in force was minted for this very object, by admission or
// later by the controller, or that it is still to be.
func (t *Thing) own() bool { return t.Minted || t.SpecID == "" || t.id() != t.SpecID }

// owes says whether its deletion has to reach the broker.
func (t *Thing) owes() bool {
	r := &t.Record
	switch {
	case r.Owed == IsOwed || r.Mitigating:
		return true
	case t.RemoveAdopted:
		return r.Exists || r.Operation == Making
	}
	return false
}
