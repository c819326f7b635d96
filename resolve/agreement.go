package resolve

import "github.com/defaultplan/defaultplan/api/v1beta1"

// Disagreement says why a plan cannot be had by its class, completing "it is …": they are of different brokers. It is
// empty where they agree.
//
// Where only one of them names a broker, the other is of it, too, if it is a broker of their own scope: the cluster's
// relists fill in what a chart left out, and so do a namespace's. A cluster's broker is to be named by each class and
// each plan of a namespace: the right to use it is asked of the user who writes its name, and no relist comes there.
func Disagreement(class *ClassEntry, plan *PlanEntry) string {
	if plan.Broker == class.Broker {
		return ""
	}
	switch none := (Ref{}); {
	case plan.Broker == none && class.Broker.Namespace == class.Namespace, class.Broker == none && plan.Broker.Namespace == plan.Namespace:
		return ""
	case plan.Broker == none:
		return "without the clusterServiceBrokerName of its class"
	case class.Broker == none:
		return "of a clusterServiceBrokerName that its class does not name"
	}
	return "of another broker than its class"
}

// InForce finds among the plans of a class the one that an instance has, by its ID at the broker. It is nil where there is
// none, and the one with the first name where copies share the ID. Whether an instance may leave its plan is this plan's
// word, or else its class's: admission and the controller ask this same function.
func InForce(plans []PlanEntry, externalID string) *PlanEntry {
	var found *PlanEntry
	for i := range plans {
		if plans[i].ExternalID == externalID && (found == nil || plans[i].Name < found.Name) {
			found = &plans[i]
		}
	}
	return found
}

// brokerOf is what a class or plan names as its broker: the cluster's, else that of its own
// namespace.
func brokerOf(offering v1beta1.OfferingObject) Ref {
	switch target := offering.GetBroker(); {
	case target.ClusterServiceBrokerName != "":
		return Ref{Name: target.ClusterServiceBrokerName}
	case target.ServiceBrokerName != "":
		return Ref{Namespace: offering.GetNamespace(), Name: target.ServiceBrokerName}
	}
	return Ref{}
}
