package resolve

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A NameKind says which of its three names a class or plan is named by.
type NameKind uint8

// The three kinds of names. ByName is the Kubernetes name, which is unique within a scope; the others may fit
// several.
const (
	ByName NameKind = iota
	ByExternalName
	ByExternalID
)

// A Named is a class or plan by one of its names. An empty Value names nothing.
type Named struct {
	By    NameKind
	Value string
}

// A Request is what an instance (or a binding with an instance of its own) says about its plan.
type Request struct {
	// Namespace is where the request is made: its plans and the cluster's can be chosen, those of other namespaces
	// never. Empty asks for the cluster's only.
	Namespace string
	// Seed is what a tie between equal plans is broken by: "namespace/name", or the UID of the admission request
	// while the object has only a generateName.
	Seed string
	// Namespaced says that Class and Plan are of Namespace; otherwise they are the cluster's.
	Namespaced bool
	Class      Named
	Plan       Named
	// Type is spec.serviceType.
	Type string
	// Selector is spec.planSelector; nil means none, and an empty one is refused.
	Selector *metav1.LabelSelector
}
