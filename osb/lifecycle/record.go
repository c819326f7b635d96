package lifecycle

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
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

// report is what the conditions are changed by, as of now.
func (r *Record) report(now time.Time) report {
	return report{conditions: &r.Conditions, generation: r.ObservedGeneration, now: now}
}

// underWay reports that a call is about to be made. The conditions of the last
// attempt for the same spec stay until this one has a result, so that a
// resource that is retried does not flap.
func (r *Record) underWay(w wording, step Step, now time.Time) {
	if step == MitigateOrphan {
		before, is := r.told(v1beta1.ConditionOrphanMitigation)
		if !is {
			before.Reason, before.Message = w.inFlight, w.workMessage
		}
		r.report(now).mitigates(before.Reason, before.Message)
		return
	}
	r.report(now).unset(v1beta1.ConditionFailed)
	if ready, retried := r.retried(); retried {
		r.report(now).busy(ready.Reason, ready.Message)
		return
	}
	r.report(now).set(v1beta1.Waiting(w.inFlight, w.workMessage))
	r.report(now).busy(w.inFlight, w.workMessage)
}

// retried is the condition of the last attempt, and whether this one is for the
// same spec.
func (r *Record) retried() (v1beta1.Condition, bool) {
	ready, _ := r.told(v1beta1.ConditionReady)
	return ready, ready.Status == v1beta1.ConditionFalse && ready.ObservedGeneration == r.ObservedGeneration && r.Retries > 0
}

// working reports that the broker works on it, which replaces the message of
// the last attempt. After a failed attempt Ready stays False, so that it does
// not flap.
func (r *Record) working(reason, message string, now time.Time) {
	if r.Mitigating {
		r.report(now).mitigates(reason, message)
		return
	}
	if r.failedForGood() {
		return
	}
	ready := v1beta1.Waiting(reason, message)
	if _, retried := r.retried(); retried {
		ready = v1beta1.NotReady(reason, message)
	}
	r.report(now).set(ready)
	r.report(now).busy(reason, message)
}

func (r *Record) failedForGood() bool { return r.holds(v1beta1.ConditionFailed) }

// told is a condition of a type; false: there is none.
func (r *Record) told(typ string) (v1beta1.Condition, bool) {
	return v1beta1.FindCondition(r.Conditions, typ)
}

func (r *Record) holds(typ string) bool {
	c, _ := r.told(typ)
	return c.Status == v1beta1.ConditionTrue
}

// takeOverMitigation turns a pending mitigation into the deletion's own
// removal.
func (r *Record) takeOverMitigation() {
	if r.Mitigating {
		r.Mitigating, r.KeepsID, r.DeprovisionStatus = false, false, DeprovisionRequired
		r.report(time.Time{}).unset(v1beta1.ConditionOrphanMitigation)
	}
}

// busyAtBroker says that there is or may be something of it, or will be.
func (r *Record) busyAtBroker() bool {
	return r.DeprovisionStatus == DeprovisionRequired || r.Mitigating || r.Operation != NoOperation || r.Async || r.FetchRequired
}

// longestDeadline is Facts.MaxDeadline where that is not given.
const longestDeadline = time.Hour

// bound brings times that a clock ahead of this one wrote to the latest ones that make
// sense: else that clock's error would be waited out. The record that is stored next has
// them, so that the wait ends.
func (r *Record) bound(f *Facts) {
	if latest := f.Now.Add(osb.LongestWait); r.NextRetry.After(latest) {
		r.NextRetry = latest
	}
	if r.Started.After(f.Now) {
		r.Started = f.Now
	}
	if latest := f.Now.Add(cmp.Or(f.MaxDeadline, longestDeadline)); r.Deadline.After(latest) {
		r.Deadline = latest
	}
}
