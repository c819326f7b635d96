package v1beta1

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConditionStatus is the state of a condition. Unknown means wait, False means
// that someone must act.
// +kubebuilder:validation:Enum="";True;False;Unknown
type ConditionStatus string

// The states of a condition.
const (
	ConditionTrue    ConditionStatus = "True"
	ConditionFalse   ConditionStatus = "False"
	ConditionUnknown ConditionStatus = "Unknown"
)

// Condition is one observation of an object's state. The list holds one entry
// per type.
type Condition struct {
	// Type is the kind of observation in CamelCase, such as Ready or Failed.
	// +kubebuilder:validation:MaxLength=316
	Type string `json:"type"`
	// Status is True, False or Unknown. Unknown means wait, False means that
	// someone must act.
	Status ConditionStatus `json:"status"`
	// ObservedGeneration is the metadata.generation that this condition was
	// derived from. Absent on conditions written by the retired catalog.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// LastTransitionTime is when the status last changed, in RFC 3339.
	// +optional
	// +nullable
	LastTransitionTime metav1.Time `json:"lastTransitionTime"`
	// Reason is one constant CamelCase word that says why.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Reason string `json:"reason"`
	// Message says why in a sentence for people.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Message string `json:"message"`
}

// Condition types.
const (
	// ConditionReady is True when the object can be used.
	ConditionReady = "Ready"
	// ConditionFailed is True when nothing more is tried until the spec
	// changes.
	ConditionFailed = "Failed"
	// ConditionOrphanMitigation is True while an instance of unknown outcome
	// is being removed at the broker.
	ConditionOrphanMitigation = "OrphanMitigation"
	// ConditionReconciling is True while something is being done; as kstatus
	// reads it.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True while nothing more is tried until someone acts; as
	// kstatus reads it.
	ConditionStalled = "Stalled"
	// ConditionCatalogComplete is False on a broker of whose catalog a part could
	// not be taken over; its message says which and why.
	ConditionCatalogComplete = "CatalogComplete"
	// ConditionCatalogShrank is True on a broker whose catalog lost more than half of what
	// there was, until it is read again: nothing of it is deleted before.
	ConditionCatalogShrank = "CatalogShrank"
	// ConditionResolved says on instances and bindings whether the class and
	// plan are decided, and by which rule.
	ConditionResolved = "Resolved"
	// ConditionShared is False on a binding to an instance of another namespace
	// that is not shared with its own any more.
	ConditionShared = "Shared"
	// ConditionEndpoints is True on a binding whose endpoints have a Service, and
	// False, with the reason, where they can have none.
	ConditionEndpoints = "Endpoints"
	// ConditionPublished is False on a binding whose ConfigMap is gone, or another's, and
	// cannot be written again: the broker does not give the credentials again.
	ConditionPublished = "Published"
	// ConditionTransformed is False on a binding whose secretTransforms name keys that the
	// credentials do not have.
	ConditionTransformed = "Transformed"
	// ConditionCredentialsCurrent is False on a binding whose credentials have
	// expired, or could not be replaced in time.
	ConditionCredentialsCurrent = "CredentialsCurrent"
	// ConditionInUse is True on a class or plan that is being deleted and kept, because
	// instances or bindings refer to it.
	ConditionInUse = "InUse"
	// ConditionDefaultPlan is True on a service type that has a default plan.
	ConditionDefaultPlan = "DefaultPlan"
	// ConditionSuggestedPlan is True on a service type with one suggested plan.
	ConditionSuggestedPlan = "SuggestedPlan"
	// ConditionAmbiguous is True on a service type when several plans claim
	// the same tier.
	ConditionAmbiguous = "Ambiguous"
	// ConditionNoDefault is True on a service type that names alone cannot
	// resolve: it has plans, but none is default or suggested.
	ConditionNoDefault = "NoDefault"
	// ConditionEffective is True on a policy that selects plans or instances,
	// and namespaces, that exist.
	ConditionEffective = "Effective"
)

// ReasonWaitsForController is that of Ready on what no controller has seen of the name that its
// broker gives.
const ReasonWaitsForController = "WaitsForController"

// Ready returns the condition of an object that can be used.
func Ready(reason, message string) Condition {
	return Condition{Type: ConditionReady, Status: ConditionTrue, Reason: reason, Message: message}
}

// NotReady returns the condition of an object that cannot be used until
// someone acts.
func NotReady(reason, message string) Condition {
	return Condition{Type: ConditionReady, Status: ConditionFalse, Reason: reason, Message: message}
}

// Waiting returns the condition of an object that will be ready by itself.
func Waiting(reason, message string) Condition {
	return Condition{Type: ConditionReady, Status: ConditionUnknown, Reason: reason, Message: message}
}

// Failed returns the condition of an object for which nothing more is tried
// until its spec changes.
func Failed(reason, message string) Condition {
	return Condition{Type: ConditionFailed, Status: ConditionTrue, Reason: reason, Message: message}
}

// OrphanMitigation returns the condition of an object of unknown outcome that is
// being removed at the broker.
func OrphanMitigation(reason, message string) Condition {
	return Condition{Type: ConditionOrphanMitigation, Status: ConditionTrue, Reason: reason, Message: message}
}

// Reconciling returns the condition of an object for which something is being
// done.
func Reconciling(reason, message string) Condition {
	return Condition{Type: ConditionReconciling, Status: ConditionTrue, Reason: reason, Message: message}
}

// Stalled returns the condition of an object for which nothing more is tried
// until someone acts.
func Stalled(reason, message string) Condition {
	return Condition{Type: ConditionStalled, Status: ConditionTrue, Reason: reason, Message: message}
}

// CatalogComplete returns the condition of a broker that says whether all of its
// catalog could be taken over.
func CatalogComplete(is bool, reason, message string) Condition {
	return Condition{Type: ConditionCatalogComplete, Status: statusOf(is), Reason: reason, Message: message}
}

// CatalogShrank returns the condition of a broker whose catalog lost more than half of what
// there was.
func CatalogShrank(reason, message string) Condition {
	return Condition{Type: ConditionCatalogShrank, Status: ConditionTrue, Reason: reason, Message: message}
}

// Resolved returns the condition of an instance or binding whose plan is
// decided; the reason is the rule that decided.
func Resolved(reason, message string) Condition {
	return Condition{Type: ConditionResolved, Status: ConditionTrue, Reason: reason, Message: message}
}

// Unresolved returns the condition of an instance or binding that waits for a
// plan that admission can decide on.
func Unresolved(reason, message string) Condition {
	return Condition{Type: ConditionResolved, Status: ConditionFalse, Reason: reason, Message: message}
}

// DefaultPlan returns the condition of a service type that says whether it has a
// default plan.
func DefaultPlan(is bool, reason, message string) Condition {
	return Condition{Type: ConditionDefaultPlan, Status: statusOf(is), Reason: reason, Message: message}
}

// SuggestedPlan returns the condition of a service type that says whether it has
// one suggested plan.
func SuggestedPlan(is bool, reason, message string) Condition {
	return Condition{Type: ConditionSuggestedPlan, Status: statusOf(is), Reason: reason, Message: message}
}

// Ambiguous returns the condition of a service type that says whether several
// plans claim the same tier.
func Ambiguous(is bool, reason, message string) Condition {
	return Condition{Type: ConditionAmbiguous, Status: statusOf(is), Reason: reason, Message: message}
}

// NoDefault returns the condition of a service type that says whether it has
// plans, none of which is the default or suggested.
func NoDefault(is bool, reason, message string) Condition {
	return Condition{Type: ConditionNoDefault, Status: statusOf(is), Reason: reason, Message: message}
}

// Effective returns the condition of a policy that says whether it selects
// anything that exists.
func Effective(is bool, reason, message string) Condition {
	return Condition{Type: ConditionEffective, Status: statusOf(is), Reason: reason, Message: message}
}

func statusOf(is bool) ConditionStatus {
	if is {
		return ConditionTrue
	}
	return ConditionFalse
}

// RemoveCondition returns the conditions without the one of a type. The given
// list is not written to.
func RemoveCondition(conditions []Condition, typ string) []Condition {
	return slices.DeleteFunc(slices.Clone(conditions), func(c Condition) bool { return c.Type == typ })
}

// LastConditionState is what old clients show of an object: Failed, if it is
// True, else Ready, if it is True, else the reason of Ready.
func LastConditionState(conditions []Condition) string {
	if failed, ok := FindCondition(conditions, ConditionFailed); ok && failed.Status == ConditionTrue {
		return ConditionFailed
	}
	ready, _ := FindCondition(conditions, ConditionReady)
	if ready.Status == ConditionTrue {
		return ConditionReady
	}
	return ready.Reason
}

// FindCondition returns the condition of a type, and whether there is one.
func FindCondition(conditions []Condition, typ string) (Condition, bool) {
	i := slices.IndexFunc(conditions, func(c Condition) bool { return c.Type == typ })
	if i < 0 {
		return Condition{}, false
	}
	return conditions[i], true
}

// SetCondition returns the conditions with one set in the place of its type's,
// observed at a generation. The transition time stays while the status does,
// so that a condition that says the same again is not a change. The given list
// is not written to. Clients of the retired catalog print the status of the last
// condition: that is Failed where it is True, else Ready.
func SetCondition(conditions []Condition, set Condition, generation int64, now metav1.Time) []Condition {
	set.ObservedGeneration = generation
	set.LastTransitionTime = now
	result := slices.Clone(conditions)
	i := slices.IndexFunc(result, func(c Condition) bool { return c.Type == set.Type })
	if i < 0 {
		i, result = len(result), append(result, Condition{})
	} else if result[i].Status == set.Status {
		set.LastTransitionTime = result[i].LastTransitionTime
	}
	result[i] = set
	slices.SortStableFunc(result, func(a, b Condition) int { return a.printed() - b.printed() })
	return result
}

// printed orders conditions: the last one is what old clients print.
func (c *Condition) printed() int {
	switch {
	case c.Type == ConditionFailed && c.Status == ConditionTrue:
		return 2
	case c.Type == ConditionReady:
		return 1
	}
	return 0
}
