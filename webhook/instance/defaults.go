package instance

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/options"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// mergeDefaults merges the parameters class < plan < user.
func (m *Mutation) mergeDefaults(defined *catalog.Definition) (merge.Result, *review.Denial, error) {
	layers, denied := m.layers(defined)
	if denied != nil {
		return merge.Result{}, denied, nil
	}
	return parameters.Merge(layers, defined)
}

// record is the record of defaults: which layer each came from, and which a
// null removed. More than can be recorded is a denial.
func (m *Mutation) record(choice *resolve.Choice, merged *merge.Result) (v1beta1.AppliedDefaults, *review.Denial) {
	applied := v1beta1.AppliedDefaults{
		Rule: string(choice.Rule), Class: cmp.Or(choice.Class.ExternalName, choice.Class.Name),
		Plan: cmp.Or(choice.Plan.ExternalName, choice.Plan.Name),
	}
	parameters.NoteMerged(&applied, merged)
	applied.Removed = m.stillRemoved(applied.Removed, merged.Values)
	return applied, parameters.TooMuchRemoved(&applied)
}

// applyDefaults adds the defaults to the parameters, and their record.
func (m *Mutation) applyDefaults(applied *v1beta1.AppliedDefaults, merged *merge.Result) {
	m.Annotations[v1beta1.AnnotationAppliedDefaults] = applied.String()
	m.Additions = append(m.Additions, parameters.AdditionsOf(merged)...)
	if len(applied.From) > 0 {
		m.Warnf("defaults set %s", parameters.Names(applied.From))
	}
}

// layers are the parameters of class, plan and user, decoded. Below them are
// the defaults of a lost plan, which do not count as the user's.
func (m *Mutation) layers(defined *catalog.Definition) ([]merge.Layer, *review.Denial) {
	user, err := merge.Decode(parameters.Raw(m.Spec.Parameters))
	if err != nil {
		return nil, review.Invalid("InvalidParameters", "spec.parameters", "%s", err.Error())
	}
	if !m.Options.Gates.Enabled(options.ParameterDefaults) || adopts(m.Write) {
		return []merge.Layer{{Name: parameters.LayerUser, Values: user}}, nil
	}
	given, denied := m.Defaults.Layers(defined, parameters.ProvisionDefaults)
	if denied != nil {
		return nil, denied
	}
	layers, user := m.lostLayers(user)
	return append(append(layers, given...), merge.Layer{Name: parameters.LayerUser, Values: user}), nil
}

// keepDefaults restores the defaults if an update has no parameters at all: so
// it looks when a user removes all parameters from a manifest. Parameters that
// are present, even if empty, are complete: see tellDropped.
func (m *Mutation) keepDefaults() {
	if len(parameters.Raw(m.New.Spec.Parameters)) > 0 {
		return
	}
	before, from := m.storedDefaults()
	kept := defaultsIn(before, from)
	text, err := merge.Canonical(kept)
	if err != nil || len(kept) == 0 {
		return
	}
	m.Spec.Parameters = &runtime.RawExtension{Raw: text}
	m.Additions = append(m.Additions, parameters.Addition{Value: json.RawMessage(text)})
	m.WarnNames("spec.parameters is left out, which drops only your own; a null drops a default, parameters: {} drops them all; kept: ", parameters.PointerNames(from))
}

// tellDropped warns of the defaults that the parameters of an update drop,
// unless the update is decided again, which restores them.
func (m *Mutation) tellDropped() {
	before, from := m.storedDefaults()
	if len(from) == 0 {
		return
	}
	after, err := merge.Decode(parameters.Raw(m.Spec.Parameters))
	if err != nil {
		return
	}
	maps.DeleteFunc(from, func(pointer, _ string) bool {
		return !lacks(after, merge.Pointer(pointer)) || lacks(before, merge.Pointer(pointer))
	})
	if len(from) > 0 {
		m.WarnNames("this update drops defaults, and none is applied again; to keep them, write them out, or patch only what changes; dropped: ", parameters.PointerNames(from))
	}
}

// storedDefaults are the parameters that are stored, and the layers that gave some of them, by pointer.
func (m *Mutation) storedDefaults() (values map[string]any, from map[string]string) {
	from = parameters.Applied(m.Old.Metadata.Annotations).From
	if len(from) == 0 || !m.Options.Gates.Enabled(options.ParameterDefaults) {
		return nil, nil
	}
	values, err := merge.Decode(parameters.Raw(m.Old.Spec.Parameters))
	if err != nil {
		return nil, nil
	}
	return values, from
}

// defaultsIn are the values at the pointers that defaults gave. The record of a
// restored object may name any pointer.
func defaultsIn(values map[string]any, from map[string]string) map[string]any {
	given := map[string]any{}
	for _, pointer := range slices.Sorted(maps.Keys(from)) {
		tokens := merge.Pointer(pointer).Tokens()
		if value, present := merge.Pointer(pointer).Get(values); present && len(tokens) > 0 {
			merge.Set(given, tokens, value)
		}
	}
	return given
}

// lacks says that there is nothing at a pointer: neither a value, nor one in the place of an object on the way.
func lacks(values map[string]any, pointer merge.Pointer) bool {
	var at any = values
	for _, token := range pointer.Tokens() {
		object, is := at.(map[string]any)
		if !is {
			return false
		}
		if at, is = object[token]; !is {
			return true
		}
	}
	return false
}

// forgetChangedDefaults removes from applied-defaults what the write changes: a
// value that the user set is no longer a default.
func (m *Mutation) forgetChangedDefaults() {
	was := m.Old.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults]
	if was == "" {
		m.claimAppliedDefaults()
		return
	}
	if parameters.Same(m.Old.Spec.Parameters, m.Spec.Parameters) {
		return
	}
	applied, err := v1beta1.ParseAppliedDefaults(was)
	if err != nil {
		return
	}
	before, errBefore := merge.Decode(parameters.Raw(m.Old.Spec.Parameters))
	after, errAfter := merge.Decode(parameters.Raw(m.Spec.Parameters))
	if errBefore != nil || errAfter != nil {
		return
	}
	unchanged := func(pointer string) bool { return sameAt(before, after, merge.Pointer(pointer)) }
	maps.DeleteFunc(applied.From, func(pointer, _ string) bool { return !unchanged(pointer) })
	applied.Removed = slices.DeleteFunc(applied.Removed, func(pointer string) bool { return !unchanged(pointer) })
	m.Annotations[v1beta1.AnnotationAppliedDefaults] = applied.String()
}

// claimAppliedDefaults replaces an annotation that a user wrote on an object
// that never had one.
func (m *Mutation) claimAppliedDefaults() {
	if m.New.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] != "" {
		m.Annotations[v1beta1.AnnotationAppliedDefaults] = v1beta1.AppliedDefaults{Rule: review.RuleRestored}.String()
	}
}

// sameAt says that two objects hold the same at a pointer.
func sameAt(a, b map[string]any, pointer merge.Pointer) bool {
	x, okX := pointer.Get(a)
	y, okY := pointer.Get(b)
	return okX == okY && reflect.DeepEqual(x, y)
}
