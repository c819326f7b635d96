package parameters

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// Applied is an object's record of its defaults; an invalid record counts as
// empty.
func Applied(annotations map[string]string) v1beta1.AppliedDefaults {
	applied, err := v1beta1.ParseAppliedDefaults(annotations[v1beta1.AnnotationAppliedDefaults])
	if err != nil {
		return v1beta1.AppliedDefaults{}
	}
	return applied
}

// RecordChoice records the class and plan that a rule chose.
func RecordChoice(applied *v1beta1.AppliedDefaults, rule string, class *resolve.ClassEntry, plan *resolve.PlanEntry) {
	applied.Rule = rule
	applied.Class, applied.Plan = cmp.Or(class.ExternalName, class.Name), cmp.Or(plan.ExternalName, plan.Name)
}

// NoteMerged records which layer each default came from, and which defaults a
// null removed.
func NoteMerged(applied *v1beta1.AppliedDefaults, merged *merge.Result) {
	applied.From = map[string]string{}
	for pointer, layer := range merged.Origin {
		if layer != LayerUser {
			applied.From[string(pointer)] = strings.TrimPrefix(layer, LostLayer)
		}
	}
	for _, pointer := range merged.Removed {
		applied.Removed = append(applied.Removed, string(pointer))
	}
}

// TooMuchRemoved denies parameters whose nulls remove more defaults than can be
// recorded: the record must be complete.
func TooMuchRemoved(applied *v1beta1.AppliedDefaults) *review.Denial {
	if len(applied.String()) <= v1beta1.MaxAppliedDefaults {
		return nil
	}
	return review.Invalid("TooLarge", "spec.parameters", "its nulls take away more defaults than the %d bytes of %s can record", v1beta1.MaxAppliedDefaults, v1beta1.AnnotationAppliedDefaults).
		Remedy("take away fewer, or a whole object at once")
}

// Removed are the defaults that are not sent to a broker.
func Removed(applied *v1beta1.AppliedDefaults) []merge.Pointer {
	removed := make([]merge.Pointer, len(applied.Removed))
	for i, pointer := range applied.Removed {
		removed[i] = merge.Pointer(pointer)
	}
	return removed
}

// PointerNames are pointers with the layers that gave what is there, for people.
func PointerNames(from map[string]string) []string {
	names := make([]string, 0, len(from))
	for _, pointer := range slices.Sorted(maps.Keys(from)) {
		names = append(names, strings.TrimPrefix(pointer, "/")+" ("+from[pointer]+")")
	}
	return names
}

// unescaper reads a segment of a JSON pointer (RFC 6901).
var unescaper = strings.NewReplacer("~1", "/", "~0", "~")

// Names are the top-level names that pointers lead into, for people.
func Names(from map[string]string) string {
	names := map[string]bool{}
	for pointer := range from {
		name, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
		names[unescaper.Replace(name)] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}
