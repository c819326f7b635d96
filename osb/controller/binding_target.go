package controller

import (
	"fmt"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/catalog"
	"github.com/defaultplan/defaultplan/osb/controller/dedicated"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// A bindTarget is what a binding is for.
type bindTarget struct {
	binding *v1beta1.ServiceBinding
	// instance is nil if it is not there, and offering if its class or plan is not known.
	instance *v1beta1.ServiceInstance
	offering *catalog.Offering
}

// unready says why the instance cannot be bound to yet.
func (t *bindTarget) unready() *lifecycle.Problem {
	name, instance := t.binding.InstanceKey().Name, t.instance
	waits := func(reason, format string, args ...any) *lifecycle.Problem {
		return &lifecycle.Problem{Reason: reason, Waits: true, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case instance == nil:
		return waits(reasonNoInstance, "the instance %q is not there", name)
	case instance.DeletionTimestamp != nil:
		return waits(reasonInstanceNotReady, "the instance %q is being deleted", name)
	case !t.binding.Spec.Decided() && !instance.Spec.Decided():
		return &lifecycle.Problem{Reason: reasonUnresolved, Waits: true, Undecided: true, Message: fmt.Sprintf("no plan is decided on yet for the instance %q", name)}
	case t.offering == nil:
		return waits(reasonUnresolved, "the class or plan of the instance %q is not there", name)
	case !t.offering.Bindable():
		return dedicated.NotBindable(t.offering.PlanName)
	case !t.binding.Spec.Decided() && !t.offering.Lost && !t.binding.Status.Started():
		// Admission has not merged the defaults for bindings: the keeper has it asked again. A lost plan
		// leaves no defaults.
		return &lifecycle.Problem{Reason: reasonUnresolved, Waits: true, Undecided: true, Message: "the binding is not decided yet, although its instance is: " +
			"admission is asked again; if that changes nothing, delete the binding and create it again, and admission says what is wrong with its spec"}
	case instance.Status.ProvisionStatus != v1beta1.Provisioned || instance.Status.ExternalProperties == nil:
		return waits(reasonInstanceNotReady, "the instance %q is not provisioned yet", name)
	case instance.Status.CurrentOperation != "":
		return waits(reasonInstanceNotReady, "the instance %q is being changed", name)
	case instance.Status.Unusable:
		return waits(reasonInstanceNotReady, "the broker says that the instance %q cannot be used until it is repaired", name)
	}
	return nil
}

// replaced says whether a bound binding is at another instance than the one that has the
// name now: the former was abandoned. Credentials from the former's broker must not be
// recorded as those of the latter's, which may be trusted with more.
func (t *bindTarget) replaced() bool {
	bound := lifecycle.OfBinding(t.binding).Record
	if !bound.Exists {
		return false
	}
	was, is := bound.Applied.BrokerTarget, t.broker()
	known := was.ClusterServiceBrokerName != "" || was.ServiceBrokerName != "" // the retired catalog did not say
	return !isFor(t.binding, t.instance) ||
		known && (was.ClusterServiceBrokerName != is.ClusterServiceBrokerName || was.ServiceBrokerName != is.ServiceBrokerName)
}

// broker is the broker, class and plan that an instance has at its broker.
func (t *bindTarget) broker() v1beta1.BrokerTarget {
	if has := t.instance.Status.ExternalProperties.BrokerTarget; has.ClassExternalID != "" {
		return has
	}
	return t.offering.Target // provisioned by the retired catalog
}

// completeInstance adds what the retired catalog did not record.
func completeInstance(thing *lifecycle.Resource, instance *v1beta1.ServiceInstance) {
	for _, sent := range []*lifecycle.Request{thing.Record.Applied, thing.Record.InProgress} {
		if sent != nil && sent.InstanceID == "" {
			sent.InstanceID = idOf(instance)
		}
	}
}

// idOf is the ID of an instance at its broker.
func idOf(instance *v1beta1.ServiceInstance) string {
	if instance.Status.ExternalID != "" {
		return instance.Status.ExternalID
	}
	return instance.Spec.ExternalID
}
