package endpoints

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/expose"
)

// howToEnable tells users what their operator sets.
const howToEnable = "the controller runs without --endpoints (controller.endpoints.enabled of the chart), which an operator sets"

// withhold stores the endpoints, from which the Service is made once --endpoints is set, and
// says why there is none. It makes no request: the rights to Services come with --endpoints.
// Hence endpoints are judged here by the rules of the flags alone. That is enough for what
// status may tell of a credential, which depends on names and not on the cluster's addresses.
func (s Services) withhold(b *v1beta1.ServiceBinding, found Discovered, refusal *expose.Refusal) *Outcome {
	o := &Outcome{at: s.now(), service: b.Status.Service}
	if refusal == nil && len(found.Endpoints) > 0 {
		_, refusal = expose.Of(found.Endpoints, &s.Rules.Given)
	}
	if found.storable(refusal) {
		o.endpoints = found.stored()
	}
	switch {
	case o.service != "":
		o.condition = leftAsItIs(o.service)
	case refusal != nil:
		o.condition = refused(refusal.Reason, found.refusalOf(refusal))
	case len(found.Endpoints) > 0:
		o.condition = refused(ReasonDisabled, "no Service is written: "+howToEnable)
	}
	return o
}

// leave is the outcome of a binding without credentials, whose Service cannot be removed: the
// garbage collector does that when the binding is gone.
func (s Services) leave(b *v1beta1.ServiceBinding) *Outcome {
	o := &Outcome{at: s.now(), service: b.Status.Service}
	if o.service != "" {
		o.condition = leftAsItIs(o.service)
	}
	return o
}

// leftAsItIs is the condition where a Service is there that was made before --endpoints was
// unset: where it leads now is not known.
func leftAsItIs(service string) *v1beta1.Condition {
	return &v1beta1.Condition{
		Type: v1beta1.ConditionEndpoints, Status: v1beta1.ConditionUnknown, Reason: ReasonDisabled,
		Message: fmt.Sprintf("the Service %q stays as it is, and is neither updated nor repaired: %s", service, howToEnable),
	}
}

// refused is the condition where there is no Service.
func refused(reason, message string) *v1beta1.Condition {
	return &v1beta1.Condition{Type: v1beta1.ConditionEndpoints, Status: v1beta1.ConditionFalse, Reason: reason, Message: message}
}

func (s Services) now() metav1.Time { return metav1.Time{Time: s.Rules.Clock.Now()}.Rfc3339Copy() }

// Missed is what a user is told who asked for a Service, by the binding's spec, where none
// is written; false: nothing.
func (o *Outcome) Missed(spec *v1beta1.ServiceBindingSpec) (reason, message string, is bool) {
	asked := spec.ServiceName != "" || len(spec.EndpointsFrom) > 0
	if !asked || o.condition == nil || o.condition.Reason != ReasonDisabled {
		return "", "", false
	}
	return o.condition.Reason, o.condition.Message, true
}
