package resolve

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

// brokerOf is what a class or plan of a namespace, or with an empty one of the cluster, names as its broker: the
// cluster's, else the namespace's own.
func brokerOf(namespace, cluster, own string) Ref {
	switch {
	case cluster != "":
		return Ref{Name: cluster}
	case own != "":
		return Ref{Namespace: namespace, Name: own}
	}
	return Ref{}
}
