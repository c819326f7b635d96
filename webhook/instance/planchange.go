package instance

import (
	"maps"
	"slices"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/webhook/parameters"
)

// lostLayers splits the parameters of an instance that is decided again: the
// defaults of the plan that is gone, as applied-defaults records them, become
// separate layers below all others. It returns these layers, and the parameters
// of the user.
func (m *Mutation) lostLayers(user map[string]any) ([]merge.Layer, map[string]any) {
	if m.Old == nil || !m.Old.Spec.Decided() {
		return nil, user
	}
	given := map[string]map[string]any{parameters.LayerClass: {}, parameters.LayerPlan: {}}
	for _, pointer := range slices.Sorted(maps.Keys(m.recorded().From)) {
		layer, known := given[m.recorded().From[pointer]]
		value, present := merge.Pointer(pointer).Get(user)
		tokens := merge.Pointer(pointer).Tokens()
		if !known || !present || len(tokens) == 0 {
			// The record of a restored object may name any pointer.
			continue
		}
		merge.Set(layer, tokens, value)
		user = parameters.Without(user, tokens)
	}
	return []merge.Layer{
		{Name: parameters.LostLayer + parameters.LayerClass, Values: given[parameters.LayerClass]}, {Name: parameters.LostLayer + parameters.LayerPlan, Values: given[parameters.LayerPlan]},
	}, user
}

// stillRemoved adds to the removed defaults those that nulls removed from the
// plan that is gone: such a null must not be sent to a broker.
func (m *Mutation) stillRemoved(removed []string, values map[string]any) []string {
	if m.Old == nil || !m.Old.Spec.Decided() {
		return removed
	}
	for _, pointer := range m.recorded().Removed {
		if value, present := merge.Pointer(pointer).Get(values); present && value == nil {
			removed = append(removed, pointer)
		}
	}
	slices.Sort(removed)
	return slices.Compact(removed)
}

// recorded is the record of the earlier decision, without what the user has
// changed since.
func (m *Mutation) recorded() v1beta1.AppliedDefaults {
	text, ok := m.Annotations[v1beta1.AnnotationAppliedDefaults]
	if !ok {
		text = m.Old.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults]
	}
	applied, err := v1beta1.ParseAppliedDefaults(text)
	if err != nil {
		return v1beta1.AppliedDefaults{}
	}
	return applied
}
