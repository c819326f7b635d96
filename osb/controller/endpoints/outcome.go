package endpoints

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// An outcome is what became of the Service of a binding, for its status.
type outcome struct {
	// service is empty where there is none.
	service   string
	condition *v1beta1.Condition
	at        metav1.Time
}

// tell writes the outcome into a binding's status. generation is that of the binding.
func (o *outcome) tell(status *v1beta1.ServiceBindingStatus, generation int64) {
	status.Service = o.service
	if o.condition != nil {
		status.Conditions = v1beta1.SetCondition(status.Conditions, *o.condition, generation, o.at)
	}
}

// withoutService is the condition where there is no Service.
func withoutService(reason, message string) *v1beta1.Condition {
	return &v1beta1.Condition{Type: v1beta1.ConditionEndpoints, Status: v1beta1.ConditionFalse, Reason: reason, Message: message}
}

// unknown is the condition where a Service may be, but not as it is to be.
func unknown(reason, format string, args ...any) *v1beta1.Condition {
	return &v1beta1.Condition{Type: v1beta1.ConditionEndpoints, Status: v1beta1.ConditionUnknown, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// exposed is the condition of a Service that leads where it is to lead.
func exposed(service, to string) *v1beta1.Condition {
	return &v1beta1.Condition{
		Type: v1beta1.ConditionEndpoints, Status: v1beta1.ConditionTrue, Reason: ReasonExposed,
		Message: fmt.Sprintf("the Service %q leads to %s", service, to),
	}
}
