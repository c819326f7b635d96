package resolve

import "strconv"

// The paths of the fields that a request is made of, in the spec of an instance and of a binding.
const (
	typeField     = "spec.serviceType"
	selectorField = "spec.planSelector"
)

func (s *search) classField() string { return nameField(s.req.Namespaced, "Class", s.req.Class.By) }

func (s *search) planField() string { return nameField(s.req.Namespaced, "Plan", s.req.Plan.By) }

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

func unusable(field, value string, gone []Candidate) *Error {
	return &Error{Reason: Unusable, Field: field, Value: value, Candidates: gone, Detail: "it cannot be chosen any more"}
}

func (s *search) typeMismatch(others []Candidate) *Error {
	return &Error{Reason: TypeMismatch, Field: typeField, Value: s.req.Type, Candidates: others,
		Detail: "what is named beside it is of another type: name something of this type, or leave serviceType out"}
}

// nothingInClass tells a class of another type from one without a plan to choose.
func (s *search) nothingInClass() *Error {
	others := s.list(s.liveAnd(s.considered), s.typeFate)
	if len(others) > 0 {
		return s.typeMismatch(others)
	}
	return &Error{Reason: NoMatch, Field: s.classField(), Value: s.req.Class.Value, Detail: "the class has no plan that can be chosen"}
}

// InScope says in a sentence where something is: in a namespace, or, without one, in the cluster.
func InScope(namespace string) string {
	if namespace == "" {
		return "in the cluster"
	}
	return "in namespace " + strconv.Quote(namespace)
}
