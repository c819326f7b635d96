package suggest

// WhatThereIs leads to a listing.
const WhatThereIs = "see what there is"

// Types lists the service types on offer.
func Types() Ways {
	return Ways{"svcat get types", "kubectl get clusterserviceplans -o custom-columns=TYPE:.spec.serviceType,PLAN:.spec.externalName"}
}

// Classes lists the classes of a scope with what describes them; an empty
// namespace is the cluster.
func Classes(namespace string) Ways { return list("classes", namespace) }

// Plans lists the plans of a scope.
func Plans(namespace string) Ways { return list("plans", namespace) }

// Brokers lists the brokers of a scope, with whether their catalogs are taken over.
func Brokers(namespace string) Ways { return list("brokers", namespace) }

// Wide asks for more columns: svcat's plans then have their attributes.
func (w Ways) Wide() Ways { return Ways{w.Svcat + " -o wide", w.Kubectl + " -o wide"} }

// Labelled asks for labels, which selectors match.
func (w Ways) Labelled() Ways { return Ways{w.Svcat + " -o wide", w.Kubectl + " --show-labels"} }

func list(plural, namespace string) Ways {
	s := scopeOf(namespace)
	return Ways{"svcat get " + plural + s.svcat, "kubectl get " + s.kubectl + s.prefix + "service" + plural}
}
