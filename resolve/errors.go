package resolve

import (
	"fmt"
	"strings"
)

// A Reason is why a request was not resolved: a stable word for conditions and metrics.
type Reason string

// The reasons. ClassNotFound, PlanNotFound and Unusable can be cured by waiting, as can NoMatch and NoDefault by an
// operator; the others need another request, or, Ambiguous, an operator's decision.
const (
	// NothingNamed: neither class nor plan, selector nor type is given.
	NothingNamed Reason = "NothingNamed"
	// InvalidReference: the references contradict each other, as a plan named without a class.
	InvalidReference Reason = "InvalidReference"
	// InvalidSelector: the selector is empty, or no selector.
	InvalidSelector Reason = "InvalidSelector"
	// ClassNotFound: no class of the scope has the name.
	ClassNotFound Reason = "ClassNotFound"
	// PlanNotFound: no plan of the class has the name.
	PlanNotFound Reason = "PlanNotFound"
	// Unusable: what is named exists, but is being deleted or gone from its broker's catalog.
	Unusable Reason = "Unusable"
	// ClassMismatch: the plan with that Kubernetes name is of another class than the one named.
	ClassMismatch Reason = "ClassMismatch"
	// TypeMismatch: what is named is of another type than the one given beside it.
	TypeMismatch Reason = "TypeMismatch"
	// Ambiguous: a name fits several, or several plans are the default, or suggested, at once.
	Ambiguous Reason = "Ambiguous"
	// NoDefault: there are several plans, or a type's first ones, and none is the default or suggested.
	NoDefault Reason = "NoDefault"
	// NoMatch: the class has no plan that can be chosen, or the selector matches none.
	NoMatch Reason = "NoMatch"
)

// An Error is why a request was not resolved. The webhook renders the denial, with the commands that help, from its
// fields.
type Error struct {
	Reason Reason
	// Field is the path of the field to change, such as "spec.serviceType", and Value what the request says there.
	Field string
	Value string
	// Rule is the rule that found several, where Reason is Ambiguous; empty where a name fits several.
	Rule Rule
	// Class is the external name of the class that was found, where a class was named.
	Class string
	// Detail says in a few words what is wrong, or what is allowed.
	Detail string
	// Candidates are, sorted: where Reason is Ambiguous the contenders, in a mismatch what was found, and otherwise
	// all that the request could have meant, with why each was not chosen.
	Candidates []Candidate
}

// listed is how many candidates fit on a line that someone will read.
const listed = 10

// Error returns one line, the same for every order of the catalog.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("cannot resolve " + e.Field)
	if e.Value != "" {
		// Admission sees names before the schema bounds them.
		fmt.Fprintf(&b, " %.253q", e.Value)
	}
	b.WriteString(": " + e.Detail)
	for i, c := range e.Candidates {
		if i == listed {
			fmt.Fprintf(&b, "; and %d more", len(e.Candidates)-listed)
			break
		}
		separator := "; "
		if i == 0 {
			separator = ": "
		}
		b.WriteString(separator + c.Title + " is " + c.Fate)
	}
	return b.String()
}
