package resolve

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

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
	// ClassDecided says that Class was decided earlier, and that only Plan is named now.
	ClassDecided bool
	// Type is spec.serviceType.
	Type string
	// Selector is spec.planSelector; nil means none, and an empty one is refused.
	Selector *metav1.LabelSelector
}

// contradiction refuses what contradicts itself whatever the catalog holds.
func (req *Request) contradiction() *Error {
	planNamed, classNamed := req.Plan.Value != "", req.Class.Value != ""
	switch {
	case planNamed && !classNamed:
		return &Error{Reason: InvalidReference, Field: nameField(req.Namespaced, "Plan", req.Plan.By), Value: req.Plan.Value,
			Detail: "a plan is looked up in its class: name the class too"}
	case planNamed && req.Selector != nil:
		return &Error{Reason: InvalidReference, Field: selectorField,
			Detail: "a selector chooses the plan, so no plan can be named beside it: remove one of the two"}
	case classNamed && req.Namespaced && req.Namespace == "":
		return &Error{Reason: InvalidReference, Field: nameField(req.Namespaced, "Class", req.Class.By), Value: req.Class.Value,
			Detail: "a namespaced class needs a request with a namespace"}
	}
	return nil
}

// inLowerCase asks whether the type was meant that has this name in lower case, if one can have that.
func inLowerCase(name string) string {
	lower := strings.ToLower(name)
	if len(validation.IsDNS1123Label(lower)) > 0 {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", lower)
}

// Validate returns an *Error for a request that no catalog can answer, before one is read: it contradicts itself, names
// what no object can be called, which the API server must not be asked for, or its selector is empty or too large.
func (req *Request) Validate() error {
	if refused := req.contradiction(); refused != nil {
		return refused
	}
	const rest = ", with a letter or digit at both ends"
	if req.Type != "" && len(validation.IsDNS1123Label(req.Type)) > 0 {
		return &Error{Reason: InvalidReference, Field: typeField, Value: req.Type,
			Detail: "no service type can have this name: allowed are at most 63 lower case letters, digits and '-'" + rest + inLowerCase(req.Type)}
	}
	for _, named := range [...]struct {
		Named

		kind string
	}{{req.Class, "Class"}, {req.Plan, "Plan"}} {
		if named.By == ByName && named.Value != "" && len(validation.IsDNS1123Subdomain(named.Value)) > 0 {
			return &Error{Reason: InvalidReference, Field: nameField(req.Namespaced, named.kind, ByName), Value: named.Value,
				Detail: "no object can have this name: allowed are at most 253 lower case letters, digits, '-' and '.'" + rest}
		}
	}
	if req.Selector != nil {
		if refused := checkSize(req.Selector); refused != nil {
			return refused
		}
	}
	return nil
}
