package controller

import (
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A brokerKey names a broker of either scope. The zero key names none.
type brokerKey struct {
	// namespace is empty for a ClusterServiceBroker.
	namespace, name string
}

// at is where the broker's object is.
func (k brokerKey) at() types.NamespacedName {
	return types.NamespacedName{Namespace: k.namespace, Name: k.name}
}

// empty is an object of the broker's kind.
func (k brokerKey) empty() client.Object { return v1beta1.NewBroker(k.namespace) }

// String names the broker for people.
func (k brokerKey) String() string {
	switch {
	case k.name == "":
		return "none"
	case k.namespace == "":
		return "ClusterServiceBroker " + k.name
	}
	return "ServiceBroker " + k.namespace + "/" + k.name
}

// keyOf is the broker that a target names, for an object in a namespace.
func keyOf(target *v1beta1.BrokerTarget, namespace string) brokerKey {
	switch {
	case target.ClusterServiceBrokerName != "":
		return brokerKey{name: target.ClusterServiceBrokerName}
	case target.ServiceBrokerName != "":
		return brokerKey{namespace: namespace, name: target.ServiceBrokerName}
	}
	return brokerKey{}
}

// keyOfBroker is the key of a broker's object.
func keyOfBroker(broker client.Object) brokerKey {
	return brokerKey{namespace: broker.GetNamespace(), name: broker.GetName()}
}

// A broker is what both kinds of brokers have.
type broker struct {
	object client.Object
	spec   *v1beta1.CommonServiceBrokerSpec
	status *v1beta1.CommonServiceBrokerStatus
	// basic and bearer name the Secret with the credentials; zero: none.
	basic, bearer types.NamespacedName
}

func brokerOf(o client.Object) broker {
	of, ok := o.(v1beta1.BrokerObject)
	if !ok {
		return broker{object: o}
	}
	b := broker{object: o, spec: of.GetSpec(), status: of.GetStatus()}
	b.basic, b.bearer = of.GetAuthSecrets()
	return b
}

// ready says whether its catalog was taken over, as its spec is now.
func (b broker) ready() bool {
	of, is := b.object.(v1beta1.BrokerObject)
	return is && v1beta1.CatalogTaken(of)
}
