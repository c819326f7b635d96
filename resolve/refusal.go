package resolve

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agext/levenshtein"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

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
	return v1beta1.PerScope(namespace, "in the cluster", "in namespace "+strconv.Quote(namespace))
}

// mostTypos bounds the letters of a long name that may be wrong.
const mostTypos = 4

// Nearest is the known name that was probably meant, empty if none is near: at most a third of its letters are wrong,
// and at most mostTypos. It does not depend on the order of the known names.
func Nearest(name string, known []string) string {
	best, distance := "", min(max(1, len(name)/3), mostTypos)+1
	lower := strings.ToLower(name)
	for _, candidate := range known {
		// A distance is at least the difference in length: most names need no comparison.
		if far := len(candidate) - len(name); far > distance || -far > distance {
			continue
		}
		d := levenshtein.Distance(lower, strings.ToLower(candidate), nil)
		if d < distance || d == distance && best != "" && candidate < best {
			best, distance = candidate, d
		}
	}
	return best
}

// IsUnknownType says that a type was asked for of which the request sees no plan.
func (e *Error) IsUnknownType() bool {
	return e.Reason == NoDefault && e.Field == typeField && len(e.Candidates) == 0
}

// NearType is the one of types that was probably asked for where e refuses an unknown one, else empty. The type itself may
// be among them: its last plan has just gone.
func (e *Error) NearType(types []string) string {
	// Only what can be the name of a type is compared, which bounds the work for each.
	if !e.IsUnknownType() || len(e.Value) > validation.DNS1123LabelMaxLength {
		return ""
	}
	others := slices.DeleteFunc(slices.Clone(types), func(name string) bool { return name == e.Value })
	return Nearest(e.Value, others)
}

// SuggestType has the refusal name the type that was probably meant.
func (e *Error) SuggestType(near string) { e.Detail += fmt.Sprintf("; did you mean %q?", near) }
