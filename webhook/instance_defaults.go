package webhook

import (
	"maps"
	"slices"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/resolve"
)

// The layers of an instance's parameters, lowest first, as they are recorded.
const (
	layerClass = "class"
	layerPlan  = "plan"
	layerUser  = "user"
)

// An addition is a subtree that a default adds to the parameters.
type addition struct {
	pointer string
	value   any
}

// mergeDefaults merges the parameters class < plan < user.
func (m *instanceMutation) mergeDefaults(defined *definition) (merge.Result, *denial, error) {
	layers, denied := m.layers(defined)
	if denied != nil {
		return merge.Result{}, denied, nil
	}
	return mergeLayers(layers, defined)
}

// record is what is written down about defaults: where each came from, and which a
// null took away. It is refused if that is more than can be recorded.
func (m *instanceMutation) record(choice *resolve.Choice, merged *merge.Result) (v1beta1.AppliedDefaults, *denial) {
	applied := v1beta1.AppliedDefaults{
		Rule: string(choice.Rule), Class: orElse(choice.Class.ExternalName, choice.Class.Name),
		Plan: orElse(choice.Plan.ExternalName, choice.Plan.Name),
	}
	noteMerged(&applied, merged)
	applied.Removed = m.stillRemoved(applied.Removed, merged.Values)
	return applied, tooMuchRemoved(&applied)
}

// applyDefaults adds the defaults to the parameters, and their record.
func (m *instanceMutation) applyDefaults(applied *v1beta1.AppliedDefaults, merged *merge.Result) {
	m.annotations[v1beta1.AnnotationAppliedDefaults] = applied.String()
	for _, added := range merged.Added {
		m.additions = append(m.additions, addition{string(added.Pointer), added.Value})
	}
	if len(applied.From) > 0 {
		m.warnf("defaults set %s", parameterNames(applied.From))
	}
}

// layers are the parameters of class, plan and user, decoded. Below them are the
// defaults of a plan that is lost: what it gave is not the user's.
func (m *instanceMutation) layers(defined *definition) ([]merge.Layer, *denial) {
	user, err := merge.Decode(rawOf(m.spec.Parameters))
	if err != nil {
		return nil, invalid("InvalidParameters", "spec.parameters", "%s", err.Error())
	}
	if !m.options.Gates.Enabled(ParameterDefaults) || m.adopts() {
		return []merge.Layer{{Name: layerUser, Values: user}}, nil
	}
	given, denied := m.defaultLayers(defined, provisionDefaults)
	if denied != nil {
		return nil, denied
	}
	layers, user := m.lostLayers(user)
	return append(append(layers, given...), merge.Layer{Name: layerUser, Values: user}), nil
}

// forgetChangedDefaults takes out of applied-defaults what the write changes: a
// value that the user set is a default no longer.
func (m *instanceMutation) forgetChangedDefaults() {
	was := m.old.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults]
	if was == "" {
		m.claimAppliedDefaults()
		return
	}
	if sameParameters(m.old.Spec.Parameters, m.spec.Parameters) {
		return
	}
	applied, err := v1beta1.ParseAppliedDefaults(was)
	if err != nil {
		return
	}
	before, errBefore := merge.Decode(rawOf(m.old.Spec.Parameters))
	after, errAfter := merge.Decode(rawOf(m.spec.Parameters))
	if errBefore != nil || errAfter != nil {
		return
	}
	unchanged := func(pointer string) bool { return sameAt(before, after, merge.Pointer(pointer)) }
	maps.DeleteFunc(applied.From, func(pointer, _ string) bool { return !unchanged(pointer) })
	applied.Removed = slices.DeleteFunc(applied.Removed, func(pointer string) bool { return !unchanged(pointer) })
	m.annotations[v1beta1.AnnotationAppliedDefaults] = applied.String()
}

// claimAppliedDefaults replaces an annotation that a user wrote on an object
// that never had one.
func (m *instanceMutation) claimAppliedDefaults() {
	if m.new.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] != "" {
		m.annotations[v1beta1.AnnotationAppliedDefaults] = v1beta1.AppliedDefaults{Rule: ruleRestored}.String()
	}
}

// sameAt says that two objects hold the same at a pointer.
func sameAt(a, b map[string]any, pointer merge.Pointer) bool {
	x, okX := valueAt(a, pointer)
	y, okY := valueAt(b, pointer)
	return okX == okY && sameValue(x, y)
}

func valueAt(values map[string]any, pointer merge.Pointer) (any, bool) {
	var at any = values
	for _, token := range pointer.Tokens() {
		object, ok := at.(map[string]any)
		if !ok {
			return nil, false
		}
		if at, ok = object[token]; !ok {
			return nil, false
		}
	}
	return at, true
}
