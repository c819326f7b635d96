package resolve

import "strconv"

// The paths of the fields that a request is made of, in the spec of an instance and of a binding.
const (
	typeField     = "spec.serviceType"
	selectorField = "spec.planSelector"
)

func (r *round) classField() string { return nameField(r.req.Namespaced, "Class", r.req.Class.By) }

func (r *round) planField() string { return nameField(r.req.Namespaced, "Plan", r.req.Plan.By) }

// nameField returns the path of the field that names a class or plan: one of twelve.
func nameField(namespaced bool, kind string, by NameKind) string {
	prefix := "spec.clusterService"
	if namespaced {
		prefix = "spec.service"
	}
	switch by {
	case ByExternalName:
		return prefix + kind + "ExternalName"
	case ByExternalID:
		return prefix + kind + "ExternalID"
	case ByName:
	}
	return prefix + kind + "Name"
}

// fail completes an error with the class that was found.
func (r *round) fail(e Error) error {
	if r.class != nil {
		e.Class = display(r.class.ExternalName, r.class.Name)
	}
	return &e
}

func (r *round) unusable(field, value string, gone []Candidate) error {
	return r.fail(Error{Reason: Unusable, Field: field, Value: value, Candidates: gone, Detail: "it cannot be chosen any more"})
}

func (r *round) typeMismatch(others []Candidate) error {
	return r.fail(Error{Reason: TypeMismatch, Field: typeField, Value: r.req.Type, Candidates: others,
		Detail: "what is named beside it is of another type: name something of this type, or leave serviceType out"})
}

// place says where named classes and plans are looked up.
func (r *round) place() string { return placeName(r.scope()) }

// placeOf says where a rule looks for the plans that it prefers.
func (r *round) placeOf(rule Rule) string {
	switch rule {
	case RuleNamespaceDefault, RuleNamespaceSuggested:
		return placeName(r.req.Namespace)
	case RuleClusterDefault, RuleClusterSuggested:
		return placeName("")
	case RuleNamed, RuleOnlyPlan, RuleClassDefault, RuleClassSuggested, RuleSelector:
	}
	return "in the class"
}

func placeName(namespace string) string {
	if namespace == "" {
		return "in the cluster"
	}
	return "in namespace " + strconv.Quote(namespace)
}
