package instance

import (
	"maps"
	"slices"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/webhook/parameters"
)

// A lostPlan is what is recorded of a plan that is gone, where an instance is decided again. A
// nil one is that of an instance that was never decided.
type lostPlan struct{ record v1beta1.AppliedDefaults }

// layers splits the stored parameters: the defaults of the plan that is gone become separate
// layers below all others. It returns these layers, and the parameters of the user.
func (l *lostPlan) layers(user map[string]any) ([]merge.Layer, map[string]any) {
	if l == nil {
		return nil, user
	}
	given := map[string]map[string]any{parameters.LayerClass: {}, parameters.LayerPlan: {}}
	var defaulted []merge.Pointer
	for _, pointer := range slices.Sorted(maps.Keys(l.record.From)) {
		layer, known := given[l.record.From[pointer]]
		value, present := merge.Pointer(pointer).Get(user)
		if !known || !present {
			// The record of a restored object may name anything.
			continue
		}
		merge.Set(layer, merge.Pointer(pointer).Tokens(), value)
		defaulted = append(defaulted, merge.Pointer(pointer))
	}
	return []merge.Layer{
		{Name: parameters.LostLayer + parameters.LayerClass, Values: given[parameters.LayerClass]},
		{Name: parameters.LostLayer + parameters.LayerPlan, Values: given[parameters.LayerPlan]},
	}, merge.Omit(user, defaulted)
}

// stillRemoved adds to the removed defaults those that nulls removed from the
// plan that is gone: such a null must not be sent to a broker.
func (l *lostPlan) stillRemoved(removed []string, values map[string]any) []string {
	if l == nil {
		return removed
	}
	for _, pointer := range l.record.Removed {
		if value, present := merge.Pointer(pointer).Get(values); present && value == nil {
			removed = append(removed, pointer)
		}
	}
	slices.Sort(removed)
	return slices.Compact(removed)
}

// earlierRecord is the record of the earlier decision: as this write leaves it, without what the
// user has changed, or as it is stored.
func earlierRecord(written, stored map[string]string) v1beta1.AppliedDefaults {
	if _, changed := written[v1beta1.AnnotationAppliedDefaults]; changed {
		return parameters.Applied(written)
	}
	return parameters.Applied(stored)
}
