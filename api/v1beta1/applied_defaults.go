package v1beta1

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// MaxAppliedDefaults is the most bytes that the applied-defaults annotation
// takes. Entries of From that do not fit are left out, and Truncated says so.
const MaxAppliedDefaults = 16 << 10

// AppliedDefaults is the content of the annotation AnnotationAppliedDefaults:
// what admission decided for an object, once. It is a record for people and for
// parametersFrom, never a permission.
// +kubebuilder:object:generate=false
type AppliedDefaults struct {
	// Rule is the rule that chose the plan, one of the words of package resolve,
	// or "restored" for an object that came with its references.
	Rule string `json:"rule"`
	// Class is the external name of the chosen class.
	Class string `json:"class,omitempty"`
	// Plan is the external name of the chosen plan.
	Plan string `json:"plan,omitempty"`
	// From maps the root of each defaulted subtree of spec.parameters, as a JSON
	// pointer, to the layer that gave it: "class" or "plan".
	From map[string]string `json:"from,omitempty"`
	// Removed lists, as JSON pointers, the defaults that a null of the user took
	// away: a broker is not sent them.
	Removed []string `json:"removed,omitempty"`
	// Transforms says of each of a binding's spec.secretTransforms, in order,
	// which layer gave it: "class", "plan" or "user". Absent where no default
	// transform was applied.
	Transforms []string `json:"transforms,omitempty"`
	// Provision says the same of a binding's spec.provisionParameters: what
	// defaults gave to an instance of its own. Absent on all others.
	Provision *AppliedProvision `json:"provision,omitempty"`
	// Truncated says that not all of From fitted in MaxAppliedDefaults.
	Truncated bool `json:"truncated,omitempty"`
}

// AppliedProvision is what admission decided for the provision parameters of a
// binding with an instance of its own.
// +kubebuilder:object:generate=false
type AppliedProvision struct {
	// From and Removed are those of AppliedDefaults, of spec.provisionParameters.
	From    map[string]string `json:"from,omitempty"`
	Removed []string          `json:"removed,omitempty"`
	// Truncated says that not all of From fitted.
	Truncated bool `json:"truncated,omitempty"`
}

// ParseAppliedDefaults reads the annotation's value. Pointers that admission does not write are left
// out.
func ParseAppliedDefaults(value string) (AppliedDefaults, error) {
	var applied AppliedDefaults
	if len(value) > MaxAppliedDefaults {
		return applied, fmt.Errorf("cannot read %s: %d bytes, at most %d are written", AnnotationAppliedDefaults, len(value), MaxAppliedDefaults)
	}
	if err := json.Unmarshal([]byte(value), &applied); err != nil {
		return AppliedDefaults{}, fmt.Errorf("cannot read %s: not the JSON that admission writes", AnnotationAppliedDefaults)
	}
	applied.From, applied.Removed = rootsOf(applied.From), rootsIn(applied.Removed)
	if p := applied.Provision; p != nil {
		p.From, p.Removed = rootsOf(p.From), rootsIn(p.Removed)
	}
	return applied, nil
}

// rootsOf leaves out of From the pointers that are no roots.
func rootsOf(from map[string]string) map[string]string {
	listed := maps.Clone(from)
	maps.DeleteFunc(from, func(pointer, _ string) bool { return !isRoot(listed, pointer) })
	return from
}

// rootsIn leaves out of Removed the pointers that are no roots or were there before. The order stays: the
// record of an instance of a binding's own is compared with the one that its binding makes, by text.
func rootsIn(removed []string) []string {
	listed, seen := make(map[string]string, len(removed)), make(map[string]bool, len(removed))
	for _, pointer := range removed {
		listed[pointer] = ""
	}
	return slices.DeleteFunc(removed, func(pointer string) bool {
		again := seen[pointer]
		seen[pointer] = true
		return again || !isRoot(listed, pointer)
	})
}

// isRoot says that admission may have written a JSON pointer: it is spelled in the only way, and not
// below another that is listed. The record of a restored object is its author's text, and what
// reads the values at all pointers of a record must not read one value many times.
func isRoot(listed map[string]string, pointer string) bool {
	const deepest = 64 // parameters are nested no deeper
	if !strings.HasPrefix(pointer, "/") || strings.Count(pointer, "/") > deepest || strings.Count(pointer, "~") != strings.Count(pointer, "~0")+strings.Count(pointer, "~1") {
		return false
	}
	for above := pointer; above != ""; {
		above = above[:strings.LastIndexByte(above, '/')]
		if _, below := listed[above]; below && above != "" {
			return false
		}
	}
	return true
}

// String is the annotation's value: compact JSON with sorted keys. It is of at
// most MaxAppliedDefaults bytes, unless Removed alone takes more: of what was
// taken away nothing is left out, because it changes what a broker is sent.
func (a AppliedDefaults) String() string {
	if text := a.encode(); len(text) <= MaxAppliedDefaults {
		return text
	}
	// What a record takes whose lists are there and empty.
	kept := a
	kept.Truncated, kept.From = true, map[string]string{"": ""}
	if a.Provision != nil {
		kept.Provision = &AppliedProvision{From: map[string]string{"": ""}, Removed: a.Provision.Removed, Truncated: true}
	}
	room := MaxAppliedDefaults - len(kept.encode())
	kept.From, room = fitting(a.From, room)
	kept.Truncated = len(kept.From) < len(a.From)
	if p := a.Provision; p != nil {
		kept.Provision.From, _ = fitting(p.From, room)
		kept.Provision.Truncated = len(kept.Provision.From) < len(p.From)
	}
	return kept.encode()
}

// fitting are the first entries, by their pointers, that fit in so many bytes, and
// what is left of those.
func fitting(from map[string]string, room int) (map[string]string, int) {
	kept := map[string]string{}
	for _, pointer := range slices.Sorted(maps.Keys(from)) {
		// An entry is two strings, a colon and a comma.
		size := len(quoted(pointer)) + len(quoted(from[pointer])) + 2
		if size > room {
			break
		}
		room -= size
		kept[pointer] = from[pointer]
	}
	return kept, room
}

func (a AppliedDefaults) encode() string { return quoted(a) }

// quoted is the JSON text of a value that cannot fail to encode.
func quoted(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}
