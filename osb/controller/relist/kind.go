package relist

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// A Kind is one of the four kinds of classes and plans.
type Kind string

// The kinds of classes and plans.
const (
	ClusterServiceClass Kind = "ClusterServiceClass"
	ClusterServicePlan  Kind = "ClusterServicePlan"
	ServiceClass        Kind = "ServiceClass"
	ServicePlan         Kind = "ServicePlan"
)

// A kindFacts has the differences between kinds.
type kindFacts struct {
	newObject func() client.Object
	newList   func() client.ObjectList
	// broker is the field of the spec that names the broker of the same scope.
	broker string
	// class is the field of the spec that names a plan's class; empty for a class.
	class string
	// word is the kind in words.
	word string
}

var kinds = map[Kind]kindFacts{
	ClusterServiceClass: {
		newObject: func() client.Object { return &api.ClusterServiceClass{} },
		newList:   func() client.ObjectList { return &api.ClusterServiceClassList{} },
		broker:    clusterBrokerField, word: "class",
	},
	ServiceClass: {
		newObject: func() client.Object { return &api.ServiceClass{} },
		newList:   func() client.ObjectList { return &api.ServiceClassList{} },
		broker:    localBrokerField, word: "class",
	},
	ClusterServicePlan: {
		newObject: func() client.Object { return &api.ClusterServicePlan{} },
		newList:   func() client.ObjectList { return &api.ClusterServicePlanList{} },
		broker:    clusterBrokerField, class: "clusterServiceClassRef", word: "plan",
	},
	ServicePlan: {
		newObject: func() client.Object { return &api.ServicePlan{} },
		newList:   func() client.ObjectList { return &api.ServicePlanList{} },
		broker:    localBrokerField, class: "serviceClassRef", word: "plan",
	},
}

const (
	clusterBrokerField = "clusterServiceBrokerName"
	localBrokerField   = "serviceBrokerName"
)

// kindsOf are the kinds of the classes and plans of a scope.
func kindsOf(namespace string) (class, plan Kind) {
	return api.PerScope(namespace, ClusterServiceClass, ServiceClass), api.PerScope(namespace, ClusterServicePlan, ServicePlan)
}

// A Broker is the part of a broker that decides how its catalog is applied.
type Broker struct {
	// Namespace is empty for a ClusterServiceBroker.
	Namespace, Name string
	UID             types.UID
	// NameSuffix is put behind the names of its classes and plans.
	NameSuffix string
	// Restrictions say which part of the catalog is applied; nil: all.
	Restrictions *Restrictions
	// Known returns the name of the object that has an ID and is this broker's
	// already, empty if there is none: that name is kept. Nil: there are none.
	Known func(kind Kind, id string) string
}

// BrokerOf returns the Broker of an object of either scope. It fails if a
// catalog restriction cannot be applied, naming it.
func BrokerOf(object client.Object) (Broker, error) {
	broker, ok := object.(api.BrokerObject)
	if !ok {
		return Broker{}, nil
	}
	spec := broker.GetSpec()
	restrictions, err := ParseRestrictions(spec.CatalogRestrictions)
	return Broker{
		Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(),
		NameSuffix: spec.NameSuffix, Restrictions: restrictions,
	}, err
}

// kind is the kind of the broker.
func (b *Broker) kind() string { return api.ScopedKind(b.Namespace, "ServiceBroker") }

// nameOf is the name of the object of an ID.
func (b *Broker) nameOf(kind Kind, id string) string {
	if b.Known != nil {
		if name := b.Known(kind, id); name != "" {
			return name
		}
	}
	return Name(id, b.NameSuffix)
}

// owns says whether the broker controls an object. A broker that was recreated
// under the same name takes over what its predecessor left.
func (b *Broker) owns(object client.Object) bool {
	owner := metav1.GetControllerOfNoCopy(object)
	return owner != nil && owner.Kind == b.kind() && owner.Name == b.Name && object.GetNamespace() == b.Namespace
}
