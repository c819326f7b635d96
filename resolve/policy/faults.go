package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// maxFaults is how many faults are told at once.
	maxFaults = 10
	// maxShown bounds what is repeated of a policy, which no schema bounds.
	maxShown = 256
)

// An Error says why a policy is no rule. A cluster without our admission hooks
// may have stored such a policy; it denies nothing until it is corrected.
type Error struct {
	// Kind and Name are those of the policy.
	Kind string
	Name string
	// Faults are the first ten, in the order of the fields; there is one at least.
	Faults []Fault
}

// A Fault is one field that cannot be read.
type Fault struct {
	// Field is its path, as in spec.subjects[2].planSelector.matchExpressions[0].key.
	Field string
	// Detail says what is wrong with it.
	Detail string
}

// Error lists the faults in one line.
func (e *Error) Error() string {
	texts := make([]string, len(e.Faults))
	for i, fault := range e.Faults {
		texts[i] = fault.Field + ": " + fault.Detail
	}
	return fmt.Sprintf("cannot read %s %q: %s", e.Kind, e.Name, strings.Join(texts, "; "))
}

// faults are collected while a policy is compiled.
type faults []Fault

func (f *faults) add(found ...*field.Error) {
	for _, one := range found[:min(len(found), maxFaults-len(*f))] {
		*f = append(*f, Fault{Field: bounded(one.Field), Detail: bounded(one.ErrorBody())})
	}
}

// selector compiles a selector; nil stays nil, and an empty one matches all.
func (f *faults) selector(given *metav1.LabelSelector, at *field.Path) labels.Selector {
	if given == nil {
		return nil
	}
	parsed, err := metav1.LabelSelectorAsSelector(given)
	if err == nil {
		return parsed
	}
	// The parser meets labels in the order of a map and says not where it is:
	// the API's own validation of selectors, field by field, does.
	for _, key := range slices.Sorted(maps.Keys(given.MatchLabels)) {
		label := map[string]string{key: given.MatchLabels[key]}
		f.add(validation.ValidateLabels(label, at.Child("matchLabels").Key(key))...)
	}
	expressions := &metav1.LabelSelector{MatchExpressions: given.MatchExpressions}
	f.add(validation.ValidateLabelSelector(expressions, validation.LabelSelectorValidationOptions{}, at)...)
	return labels.Nothing()
}

// bounded cuts a text between two characters.
func bounded(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "…"
}
