package catalog

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/resolve"
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

// A View is an object of either scope.
type View[O client.Object] struct {
	// Object is the object itself, such as a *ClusterServiceClass or a *ServiceClass.
	Object O
}

// A Class is a service class of either scope. Its fields point into Object.
type Class struct {
	View[v1beta1.ClassObject]

	Spec   *v1beta1.CommonServiceClassSpec
	Status *v1beta1.CommonServiceClassStatus
	// Broker is the name of the broker that offers it; ClusterBroker says that it
	// is a ClusterServiceBroker.
	Broker        string
	ClusterBroker bool
}

// A Plan is a service plan of either scope. Its fields point into Object.
type Plan struct {
	View[v1beta1.PlanObject]

	Spec   *v1beta1.CommonServicePlanSpec
	Status *v1beta1.CommonServicePlanStatus
	// ClassName is the Kubernetes name of its class, which has its scope.
	ClassName     string
	Broker        string
	ClusterBroker bool
}

// A Broker is a service broker of either scope. Its fields point into Object.
type Broker struct {
	View[v1beta1.BrokerObject]

	Spec   *v1beta1.CommonServiceBrokerSpec
	Status *v1beta1.CommonServiceBrokerStatus
}

// A Type is a service type of either scope. Its fields point into Object.
type Type struct {
	View[v1beta1.TypeObject]

	Spec   *v1beta1.ServiceTypeSpec
	Status *v1beta1.ServiceTypeStatus
}

// viewed are the views.
type viewed interface {
	object() client.Object
	// Title is the name that people call it by.
	Title() string
}

func (v View[O]) object() client.Object { return v.Object }

// Ref is the object's place and name.
func (v View[O]) Ref() resolve.Ref {
	return resolve.Ref{Namespace: v.Object.GetNamespace(), Name: v.Object.GetName()}
}

// Title is the Kubernetes name, where there is no other.
func (v View[O]) Title() string { return v.Object.GetName() }

// Origin says who made it. A broker is made by no broker, whatever owner its writer gave it.
func (v View[O]) Origin() Origin {
	owner := metav1.GetControllerOfNoCopy(v.Object)
	_, isBroker := client.Object(v.Object).(v1beta1.BrokerObject)
	if !isBroker && owner != nil && (owner.Kind == "ClusterServiceBroker" || owner.Kind == "ServiceBroker") {
		return FromBroker
	}
	return v1beta1.PerScope(v.Object.GetNamespace(), InCluster, InNamespace)
}

// Scope is the column SCOPE: "broker (azure)", "broker (dev/azure)" for the broker
// of a namespace, "cluster" or "ns (dev)".
func (v View[O]) Scope() string {
	namespace := v.Object.GetNamespace()
	switch v.Origin() {
	case FromBroker:
		return "broker (" + cli.Qualified(namespace, metav1.GetControllerOfNoCopy(v.Object).Name) + ")"
	case InCluster:
		return "cluster"
	case InNamespace:
	}
	return "ns (" + namespace + ")"
}

// ClassOf is the view of a class of either scope; ok is false for any other
// object.
func ClassOf(object client.Object) (class Class, ok bool) {
	o, ok := object.(v1beta1.ClassObject)
	if !ok {
		return Class{}, false
	}
	broker, cluster := brokerOf(o)
	return Class{View[v1beta1.ClassObject]{o}, o.GetSpec(), o.GetStatus(), broker, cluster}, true
}

// PlanOf is the view of a plan of either scope; ok is false for any other object.
func PlanOf(object client.Object) (plan Plan, ok bool) {
	o, ok := object.(v1beta1.PlanObject)
	if !ok {
		return Plan{}, false
	}
	broker, cluster := brokerOf(o)
	return Plan{View[v1beta1.PlanObject]{o}, o.GetSpec(), o.GetStatus(), o.GetClassName(), broker, cluster}, true
}

// BrokerOf is the view of a broker of either scope; ok is false for any other
// object.
func BrokerOf(object client.Object) (broker Broker, ok bool) {
	o, ok := object.(v1beta1.BrokerObject)
	if !ok {
		return Broker{}, false
	}
	return Broker{View[v1beta1.BrokerObject]{o}, o.GetSpec(), o.GetStatus()}, true
}

// TypeOf is the view of a service type of either scope; ok is false for any other
// object.
func TypeOf(object client.Object) (serviceType Type, ok bool) {
	o, ok := object.(v1beta1.TypeObject)
	if !ok {
		return Type{}, false
	}
	return Type{View[v1beta1.TypeObject]{o}, o.GetSpec(), o.GetStatus()}, true
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
func (c Class) State() string { return stateOf(c.Object) }

// State is as with Class.
func (p Plan) State() string { return stateOf(p.Object) }

func stateOf(object v1beta1.OfferingObject) string {
	switch {
	case object.GetDeletionTimestamp() != nil:
		return "Terminating"
	case object.IsRemoved():
		return "Deprecated"
	}
	return Active
}
