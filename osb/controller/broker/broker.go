package broker

import (
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A Key names a broker of either scope. The zero key names none.
type Key struct {
	// Namespace is empty for a ClusterServiceBroker.
	Namespace, Name string
}

// At is where the broker's object is.
func (k Key) At() types.NamespacedName {
	return types.NamespacedName{Namespace: k.Namespace, Name: k.Name}
}

// namespaced says whether the broker belongs to a namespace.
func (k Key) namespaced() bool { return k.Namespace != "" }

// empty is an object of the broker's kind.
func (k Key) empty() client.Object { return v1beta1.NewBroker(k.Namespace) }

// String names the broker for people.
func (k Key) String() string {
	if k.Name == "" {
		return "none"
	}
	return v1beta1.PerScope(k.Namespace, "ClusterServiceBroker "+k.Name, "ServiceBroker "+k.Namespace+"/"+k.Name)
}

// KeyOf is the broker that a target names, for an object in a namespace.
func KeyOf(target *v1beta1.BrokerTarget, namespace string) Key {
	switch {
	case target.ClusterServiceBrokerName != "":
		return Key{Name: target.ClusterServiceBrokerName}
	case target.ServiceBrokerName != "":
		return Key{Namespace: namespace, Name: target.ServiceBrokerName}
	}
	return Key{}
}

// keyOfBroker is the key of a broker's object.
func keyOfBroker(broker client.Object) Key {
	return Key{Namespace: broker.GetNamespace(), Name: broker.GetName()}
}

// A Broker is what both kinds of brokers have.
type Broker struct {
	object client.Object
	Spec   *v1beta1.CommonServiceBrokerSpec
	Status *v1beta1.CommonServiceBrokerStatus
	// basic and bearer name the Secret with the credentials; zero: none.
	basic, bearer types.NamespacedName
}

func brokerOf(o client.Object) Broker {
	of, ok := o.(v1beta1.BrokerObject)
	if !ok {
		return Broker{object: o}
	}
	b := Broker{object: o, Spec: of.GetSpec(), Status: of.GetStatus()}
	b.basic, b.bearer = of.GetAuthSecrets()
	return b
}

// ready says whether its catalog was taken over, as its spec is now.
func (b Broker) ready() bool {
	of, is := b.object.(v1beta1.BrokerObject)
	return is && v1beta1.CatalogTaken(of)
}
