package endpoints

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/expose"
)

// howToEnable tells users what their operator sets.
const howToEnable = "the controller runs without --endpoints (controller.endpoints.enabled of the chart), which an operator sets"

// A Validator says which endpoints status stores, for the reconciler of bindings: it alone knows
// the credentials. It makes no request. The rules of the flags are enough for what status
// may tell of a credential, which depends on names and not on the cluster's addresses.
//
// The condition Endpoints is the Validator's where status stores no endpoints, or where
// --endpoints is not set; else it is the Reconciler's, which alone writes status.service.
type Validator struct {
	Given expose.Rules
	Clock clock.PassiveClock
	// Disabled says that --endpoints is not set: there is no Reconciler.
	Disabled bool
}

// A Result is what status says of endpoints.
type Result struct {
	endpoints []v1beta1.BindingEndpoint
	// condition is nil where there is nothing to say, and leaves what is said if it is kept.
	condition *v1beta1.Condition
	kept      bool
	at        metav1.Time
}

// Tell writes the result into a binding's status. generation is that of the binding.
func (r *Result) Tell(status *v1beta1.ServiceBindingStatus, generation int64) {
	status.Endpoints = r.endpoints
	switch {
	case r.condition != nil:
		status.Conditions = v1beta1.SetCondition(status.Conditions, *r.condition, generation, r.at)
	case !r.kept:
		status.Conditions = v1beta1.RemoveCondition(status.Conditions, v1beta1.ConditionEndpoints)
	}
}

// Missed is what a user is told who asked for a Service, by the binding's spec, where none
// is written; false: nothing.
func (r *Result) Missed(spec *v1beta1.ServiceBindingSpec) (reason, message string, is bool) {
	asked := spec.ServiceName != "" || len(spec.EndpointsFrom) > 0
	if !asked || r.condition == nil || r.condition.Reason != ReasonDisabled {
		return "", "", false
	}
	return r.condition.Reason, r.condition.Message, true
}

// Of validates the endpoints that a broker returned.
func (v Validator) Of(b *v1beta1.ServiceBinding, found Discovered, refusal *expose.Refusal) *Result {
	made := &Result{at: v.now()}
	if refusal == nil && len(found.Endpoints) > 0 {
		_, refusal = expose.Of(found.Endpoints, &v.Given)
	}
	if found.storable(refusal) {
		made.endpoints = found.stored()
	}
	switch {
	case v.Disabled:
		made.condition = disabled(b, &found, refusal)
	case len(made.endpoints) == 0 && refusal != nil:
		made.condition = withoutService(refusal.Reason, found.refusalOf(refusal))
	case len(made.endpoints) == 0:
	case equality.Semantic.DeepEqual(made.endpoints, b.Status.Endpoints):
		made.kept = true
	default:
		made.condition = unknown(ReasonServiceNotWritten, "the Service %q is not written yet", ServiceName(b))
	}
	return made
}

// Again is what status tells of the endpoints that it has; nil: nothing else than before.
func (v Validator) Again(b *v1beta1.ServiceBinding) *Result {
	if !v.Disabled || len(b.Status.Endpoints) == 0 && b.Status.Service == "" {
		return nil
	}
	return v.Of(b, stated(b.Status.Endpoints), nil)
}

// None is what status tells where there are no credentials any more.
func (v Validator) None(b *v1beta1.ServiceBinding) *Result {
	made := &Result{at: v.now()}
	if v.Disabled {
		made.condition = disabled(b, &Discovered{}, nil)
	}
	return made
}

// disabled is the condition where --endpoints is not set; nil: none.
func disabled(b *v1beta1.ServiceBinding, found *Discovered, refusal *expose.Refusal) *v1beta1.Condition {
	switch {
	case b.Status.Service != "": // it was made before; where it leads now is not known
		return unknown(ReasonDisabled, "the Service %q stays as it is, and is neither updated nor repaired: %s", b.Status.Service, howToEnable)
	case refusal != nil:
		return withoutService(refusal.Reason, found.refusalOf(refusal))
	case len(found.Endpoints) > 0:
		return withoutService(ReasonDisabled, "no Service is written: "+howToEnable)
	}
	return nil
}

func (v Validator) now() metav1.Time { return metav1.Time{Time: v.Clock.Now()}.Rfc3339Copy() }

// CarryOver writes into a status what the Reconciler wrote into another of the same binding.
func CarryOver(from *v1beta1.ServiceBindingStatus, to *v1beta1.ServiceBindingStatus) {
	to.Service = from.Service
	is, there := v1beta1.FindCondition(from.Conditions, v1beta1.ConditionEndpoints)
	if !there {
		if _, stale := v1beta1.FindCondition(to.Conditions, v1beta1.ConditionEndpoints); stale {
			to.Conditions = v1beta1.RemoveCondition(to.Conditions, v1beta1.ConditionEndpoints)
		}
		return
	}
	at := slices.IndexFunc(to.Conditions, func(c v1beta1.Condition) bool { return c.Type == v1beta1.ConditionEndpoints })
	if at < 0 {
		to.Conditions = v1beta1.SetCondition(to.Conditions, is, is.ObservedGeneration, is.LastTransitionTime)
		return
	}
	to.Conditions = slices.Clone(to.Conditions)
	to.Conditions[at] = is
}

// Without is a status without what the Reconciler writes.
func Without(status v1beta1.ServiceBindingStatus) v1beta1.ServiceBindingStatus {
	status.Service = ""
	status.Conditions = v1beta1.RemoveCondition(status.Conditions, v1beta1.ConditionEndpoints)
	return status
}
