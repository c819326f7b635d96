package resolve

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A selector has at most MaxRequirements labels and expressions, and in these at most MaxValues values: each is held
// against every plan of the catalog, while its author waits and others do.
const (
	MaxRequirements = 64
	MaxValues       = 256
)

// checkSize refuses a selector that holds nothing, or too much.
func checkSize(sel *metav1.LabelSelector) *Error {
	requirements, values := len(sel.MatchLabels)+len(sel.MatchExpressions), 0
	for i := range sel.MatchExpressions {
		values += len(sel.MatchExpressions[i].Values)
	}
	invalid := func(detail string, args ...any) *Error {
		return &Error{Reason: InvalidSelector, Field: selectorField, Detail: fmt.Sprintf(detail, args...)}
	}
	switch {
	case requirements == 0:
		return invalid("it is empty: give matchLabels or matchExpressions, or leave planSelector out")
	case requirements > MaxRequirements:
		return invalid("it has %d labels and expressions; at most %d are allowed", requirements, MaxRequirements)
	case values > MaxValues:
		return invalid("its expressions have %d values; at most %d are allowed", values, MaxValues)
	}
	return nil
}

// selectorFault returns the first fault in the order of keys: the parser meets them in that of a map, and a message
// must not flap.
func selectorFault(sel *metav1.LabelSelector, err error) string {
	parts := make([]metav1.LabelSelector, 0, len(sel.MatchLabels)+len(sel.MatchExpressions))
	for _, key := range slices.Sorted(maps.Keys(sel.MatchLabels)) {
		parts = append(parts, metav1.LabelSelector{MatchLabels: map[string]string{key: sel.MatchLabels[key]}})
	}
	for _, e := range sel.MatchExpressions {
		parts = append(parts, metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{e}})
	}
	for i := range parts {
		if _, first := metav1.LabelSelectorAsSelector(&parts[i]); first != nil {
			err = first
			break
		}
	}
	return bounded(err.Error())
}

// bounded cuts what the parser says: it repeats labels that no schema has bounded yet.
func bounded(text string) string {
	const limit = 512
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
