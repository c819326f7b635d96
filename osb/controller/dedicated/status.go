package dedicated

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// Reasons that only bindings with a dedicated instance have. Until it is ready,
// and during its deletion, they have the instance's own reasons, too.
const (
	ReasonProvisioning    = "Provisioning"
	ReasonDeprovisioning  = "Deprovisioning"
	ReasonInstanceRefused = "InstanceRefused"
	ReasonInstanceTaken   = "InstanceNameTaken"
	// ReasonInstanceGone: what was in it is lost, so that another would not do instead.
	ReasonInstanceGone = "InstanceGone"
	// ReasonInstanceGoing is of a binding that can be used as long as it is not deleted.
	ReasonInstanceGoing = "InstanceBeingDeleted"
	// ReasonDedicated is the reason of a binding to an instance that is
	// dedicated to another.
	ReasonDedicated = "InstanceDedicated"
	// ReasonUnresolved is the reason of what admission has to decide, or to correct, first.
	ReasonUnresolved = "ErrorInstanceRefsUnresolved"
)

// NotBindable is the problem of a plan whose instances cannot be bound to.
func NotBindable(plan string) *lifecycle.Problem {
	return &lifecycle.Problem{Reason: "ErrorNonbindableServiceClass", Message: fmt.Sprintf("instances of the plan %q cannot be bound to", plan)}
}

func provisioning(name string) *lifecycle.Problem {
	return &lifecycle.Problem{Reason: ReasonProvisioning, Waits: true, Message: fmt.Sprintf("its instance %q is being provisioned", name)}
}

// Unprovided is the problem of a dedicated instance that cannot be bound to, in
// the words of the instance's condition, which has no secrets. The binding is
// Failed as long as the instance is.
func (s *State) Unprovided(binding *v1beta1.ServiceBinding, instance *v1beta1.ServiceInstance) *lifecycle.Problem {
	switch {
	case !binding.Dedicated() || s.Problem != nil:
		return s.Problem
	case instance == nil: // the cache has not seen it yet
		return provisioning(binding.InstanceKey().Name)
	case instance.DeletionTimestamp != nil:
		return &lifecycle.Problem{Reason: ReasonInstanceGoing, Waits: true, Message: fmt.Sprintf("its instance %q is being deleted: delete the binding as well", instance.Name)}
	case instance.Status.ProvisionStatus == v1beta1.Provisioned && instance.Status.ExternalProperties != nil:
		return nil
	}
	ready, told := v1beta1.FindCondition(instance.Status.Conditions, v1beta1.ConditionReady)
	if !told || ready.Status == v1beta1.ConditionTrue || ready.ObservedGeneration != instance.Generation {
		return provisioning(instance.Name)
	}
	return &lifecycle.Problem{
		Reason: ready.Reason, Message: fmt.Sprintf("its instance %q: %s", instance.Name, ready.Message),
		Waits: !holdsCondition(instance, v1beta1.ConditionStalled), Failed: holdsCondition(instance, v1beta1.ConditionFailed),
	}
}

// remaining says why the dedicated instance of a binding that is being deleted
// still exists.
func remaining(instance *v1beta1.ServiceInstance) *lifecycle.Problem {
	ready, _ := v1beta1.FindCondition(instance.Status.Conditions, v1beta1.ConditionReady)
	if instance.DeletionTimestamp == nil || ready.Status == v1beta1.ConditionTrue || ready.ObservedGeneration != instance.Generation {
		return &lifecycle.Problem{Reason: ReasonDeprovisioning, Waits: true, Message: fmt.Sprintf("the binding has left its broker; its instance %q is being removed", instance.Name)}
	}
	return &lifecycle.Problem{
		Reason: ready.Reason, Waits: ready.Status == v1beta1.ConditionUnknown,
		Message: fmt.Sprintf("the binding has left its broker; its instance %q is being removed: %s", instance.Name, ready.Message),
	}
}

func holdsCondition(instance *v1beta1.ServiceInstance, typ string) bool {
	found, _ := v1beta1.FindCondition(instance.Status.Conditions, typ)
	return found.Status == v1beta1.ConditionTrue
}

// Describe writes into a status what it says about the dedicated instance. An
// instance that a user deleted waits for the binding, whose Ready condition
// stays True until then and says so.
func (s *State) Describe(status *v1beta1.ServiceBindingStatus) {
	own := s.Instance
	if own == nil {
		return
	}
	status.InstanceRef = &v1beta1.LocalObjectReference{Name: own.Name}
	ready, _ := v1beta1.FindCondition(status.Conditions, v1beta1.ConditionReady)
	if own.DeletionTimestamp == nil || ready.Status != v1beta1.ConditionTrue {
		return
	}
	told := v1beta1.Ready(ReasonInstanceGoing, fmt.Sprintf("its instance %q is being deleted, and waits for the binding: delete that as well", own.Name))
	status.Conditions = v1beta1.SetCondition(status.Conditions, told, ready.ObservedGeneration, metav1.Time{})
}
