package simulation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/webhook/options"
)

// A State is what a cluster stores, as far as it is known.
type State struct {
	// Objects are of the kinds of servicecatalog.k8s.io, and Namespaces, as they are stored,
	// with their resourceVersions.
	Objects []*unstructured.Unstructured
	// JSON are further objects, each as JSON. Of many, this takes a third of the memory, and
	// less time. A simulation takes them over, and leaves nils.
	JSON [][]byte
	// Options are those of the cluster's webhook; nil: the defaults.
	Options *options.Options
	// Unknown is what the state lacks, such as "no right to list Namespaces". It becomes part
	// of what the report does not know.
	Unknown []string
	// ParametersUnknown says that the objects come without the values of parameters: what a
	// plan's schema says of them is not asked.
	ParametersUnknown bool
}

// A Change is one that a person would make: exactly one of its fields is set.
type Change struct {
	// Default makes a plan the default of its type, as `svcat set plan --default` does.
	Default *Default
	// Apply applies a manifest, as kubectl apply does.
	Apply *unstructured.Unstructured
	// Delete deletes an object, as kubectl delete does.
	Delete *Object
	// Catalog is what a broker would list at its next relist.
	Catalog *Catalog
}

// A Default names a plan and its class, each by its external or its Kubernetes name.
type Default struct {
	// Namespace is empty for the cluster.
	Namespace, Class, Plan string
}

// An Object names an object.
type Object struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// A Catalog is a broker's.
type Catalog struct {
	// Namespace is empty for a ClusterServiceBroker.
	Namespace, Broker string
	// Answer is the body that the broker answers GET /v2/catalog with.
	Answer []byte
}

// validate says whether exactly one field is set.
func (c *Change) validate() error {
	set := 0
	for _, is := range []bool{c.Default != nil, c.Apply != nil, c.Delete != nil, c.Catalog != nil} {
		if is {
			set++
		}
	}
	if set != 1 {
		return fmt.Errorf("a change has %d of the fields Default, Apply, Delete and Catalog; set one", set)
	}
	return nil
}

// object is what the change is made to.
func (c *Change) object() Object {
	switch {
	case c.Default != nil:
		return Object{Kind: "Default", Namespace: c.Default.Namespace, Name: c.Default.Class + "/" + c.Default.Plan}
	case c.Apply != nil:
		return Object{Kind: c.Apply.GetKind(), Namespace: c.Apply.GetNamespace(), Name: c.Apply.GetName()}
	case c.Delete != nil:
		return *c.Delete
	}
	return Object{Kind: "Catalog", Namespace: c.Catalog.Namespace, Name: c.Catalog.Broker}
}
