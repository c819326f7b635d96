package catalog

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// An Origin says who made a class or plan, in the proposal's words.
type Origin string

// The origins.
const (
	// FromBroker: a relist made it and keeps it.
	FromBroker Origin = "broker"
	// InCluster: a person made it, for the cluster.
	InCluster Origin = "cluster"
	// InNamespace: a person made it, in a namespace.
	InNamespace Origin = "namespace"
)

// Active is the State of what can be ordered.
const Active = "Active"

// A Class is a service class of either scope. Its fields point into Object.
type Class struct {
	// Object is a *ClusterServiceClass or a *ServiceClass.
	Object v1beta1.ClassObject
	Spec   *v1beta1.CommonServiceClassSpec
	Status *v1beta1.CommonServiceClassStatus
	// Broker is the name of the broker that offers it; ClusterBroker says that it
	// is a ClusterServiceBroker.
	Broker        string
	ClusterBroker bool
}

// A Plan is a service plan of either scope. Its fields point into Object.
type Plan struct {
	// Object is a *ClusterServicePlan or a *ServicePlan.
	Object v1beta1.PlanObject
	Spec   *v1beta1.CommonServicePlanSpec
	Status *v1beta1.CommonServicePlanStatus
	// ClassName is the Kubernetes name of its class, which has its scope.
	ClassName     string
	Broker        string
	ClusterBroker bool
}

// A Broker is a service broker of either scope. Its fields point into Object.
type Broker struct {
	// Object is a *ClusterServiceBroker or a *ServiceBroker.
	Object v1beta1.BrokerObject
	Spec   *v1beta1.CommonServiceBrokerSpec
	Status *v1beta1.CommonServiceBrokerStatus
}

// A Type is a service type of either scope. Its fields point into Object.
type Type struct {
	// Object is a *ClusterServiceType or a *ServiceType.
	Object v1beta1.TypeObject
	Spec   *v1beta1.ServiceTypeSpec
	Status *v1beta1.ServiceTypeStatus
}

// viewed are the views.
type viewed interface{ object() client.Object }

func (c Class) object() client.Object  { return c.Object }
func (p Plan) object() client.Object   { return p.Object }
func (b Broker) object() client.Object { return b.Object }
func (t Type) object() client.Object   { return t.Object }

// ClassOf is the view of a class of either scope; ok is false for any other
// object.
func ClassOf(object client.Object) (class Class, ok bool) {
	o, ok := object.(v1beta1.ClassObject)
	if !ok {
		return Class{}, false
	}
	broker, cluster := brokerOf(o)
	return Class{o, o.GetSpec(), o.GetStatus(), broker, cluster}, true
}

// PlanOf is the view of a plan of either scope; ok is false for any other object.
func PlanOf(object client.Object) (plan Plan, ok bool) {
	o, ok := object.(v1beta1.PlanObject)
	if !ok {
		return Plan{}, false
	}
	broker, cluster := brokerOf(o)
	return Plan{o, o.GetSpec(), o.GetStatus(), o.GetClassName(), broker, cluster}, true
}

// BrokerOf is the view of a broker of either scope; ok is false for any other
// object.
func BrokerOf(object client.Object) (broker Broker, ok bool) {
	o, ok := object.(v1beta1.BrokerObject)
	if !ok {
		return Broker{}, false
	}
	return Broker{o, o.GetSpec(), o.GetStatus()}, true
}

// TypeOf is the view of a service type of either scope; ok is false for any other
// object.
func TypeOf(object client.Object) (serviceType Type, ok bool) {
	o, ok := object.(v1beta1.TypeObject)
	if !ok {
		return Type{}, false
	}
	return Type{o, o.GetSpec(), o.GetStatus()}, true
}

// brokerOf is the broker that an offering names, and whether it is the cluster's.
func brokerOf(offering v1beta1.OfferingObject) (string, bool) {
	target := offering.GetBroker()
	if target.ServiceBrokerName != "" {
		return target.ServiceBrokerName, false
	}
	return target.ClusterServiceBrokerName, target.ClusterServiceBrokerName != "" || offering.GetNamespace() == ""
}

// Title is the name that people call it by: the external name, else that of the
// object.
func (c Class) Title() string { return cmp.Or(c.Spec.ExternalName, c.Object.GetName()) }

// Title is as with Class.
func (p Plan) Title() string { return cmp.Or(p.Spec.ExternalName, p.Object.GetName()) }

// State is "Active", or "Deprecated" where the broker no longer offers it: the retired
// svcat's words; "Terminating" while it is being deleted.
func (c Class) State() string { return stateOf(c.Object, c.Status.RemovedFromBrokerCatalog) }

// State is as with Class.
func (p Plan) State() string { return stateOf(p.Object, p.Status.RemovedFromBrokerCatalog) }

func stateOf(object client.Object, removed bool) string {
	switch {
	case object.GetDeletionTimestamp() != nil:
		return "Terminating"
	case removed:
		return "Deprecated"
	}
	return Active
}

// Origin says who made it.
func (c Class) Origin() Origin { return originOf(c.Object) }

// Origin says who made it.
func (p Plan) Origin() Origin { return originOf(p.Object) }

// Origin says who made it.
func (b Broker) Origin() Origin { return originOf(b.Object) }

// Origin says who made it.
func (t Type) Origin() Origin { return originOf(t.Object) }

// Scope is the column SCOPE: "broker (azure)", "broker (dev/azure)" for the broker
// of a namespace, "cluster" or "ns (dev)".
func (c Class) Scope() string { return scopeOf(c.Object) }

// Scope is as with Class.
func (p Plan) Scope() string { return scopeOf(p.Object) }

// Scope is as with Class.
func (b Broker) Scope() string { return scopeOf(b.Object) }

// Scope is as with Class.
func (t Type) Scope() string { return scopeOf(t.Object) }

func originOf(object client.Object) Origin {
	owner := metav1.GetControllerOfNoCopy(object)
	switch {
	case owner != nil && (owner.Kind == "ClusterServiceBroker" || owner.Kind == "ServiceBroker"):
		return FromBroker
	case object.GetNamespace() == "":
		return InCluster
	}
	return InNamespace
}

func scopeOf(object client.Object) string {
	namespace := object.GetNamespace()
	switch originOf(object) {
	case FromBroker:
		broker := metav1.GetControllerOfNoCopy(object).Name
		if namespace != "" {
			broker = namespace + "/" + broker
		}
		return "broker (" + broker + ")"
	case InCluster:
		return "cluster"
	case InNamespace:
	}
	return "ns (" + namespace + ")"
}
