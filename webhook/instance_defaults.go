package webhook

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

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
	result, err := merge.Layers(layers...)
	if limit := (*merge.LimitError)(nil); errors.As(err, &limit) {
		return merge.Result{}, invalid("TooLarge", "spec.parameters", "%s", limit.Error()), nil
	}
	if err != nil {
		return merge.Result{}, nil, fmt.Errorf("cannot merge the defaults of plan %q: %w", defined.title(), err)
	}
	return result, nil, nil
}

// record is what is written down about defaults: where each came from, and which a
// null took away. It is refused if that is more than can be recorded.
func (m *instanceMutation) record(choice *resolve.Choice, merged *merge.Result) (v1beta1.AppliedDefaults, *denial) {
	applied := v1beta1.AppliedDefaults{
		Rule: string(choice.Rule), Class: orElse(choice.Class.ExternalName, choice.Class.Name),
		Plan: orElse(choice.Plan.ExternalName, choice.Plan.Name), From: map[string]string{},
	}
	for pointer, layer := range merged.Origin {
		if layer != layerUser {
			applied.From[string(pointer)] = strings.TrimPrefix(layer, lostLayer)
		}
	}
	for _, pointer := range merged.Removed {
		applied.Removed = append(applied.Removed, string(pointer))
	}
	applied.Removed = m.stillRemoved(applied.Removed, merged.Values)
	if len(applied.String()) > v1beta1.MaxAppliedDefaults {
		return applied, invalid("TooLarge", "spec.parameters", "its nulls take away more defaults than the %d bytes of %s can record", v1beta1.MaxAppliedDefaults, v1beta1.AnnotationAppliedDefaults).
			remedy("take away fewer, or a whole object at once")
	}
	return applied, nil
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
	if !m.options.Gates.Enabled(ParameterDefaults) {
		return []merge.Layer{{Name: layerUser, Values: user}}, nil
	}
	class, err := m.defaults.of(defined.class.DefaultProvisionParameters)
	if err != nil {
		return nil, brokenDefaults("class", defined.Class.Ref, err)
	}
	plan, err := m.defaults.of(defined.plan.DefaultProvisionParameters)
	if err != nil {
		return nil, brokenDefaults("plan", defined.Plan.Ref, err)
	}
	layers, user := m.lostLayers(user)
	return append(layers,
		merge.Layer{Name: layerClass, Values: class}, merge.Layer{Name: layerPlan, Values: plan}, merge.Layer{Name: layerUser, Values: user}), nil
}

// brokenDefaults refuses to leave out defaults that cannot be read: an instance
// without them would be another one than the operator meant.
func brokenDefaults(kind string, ref resolve.Ref, err error) *denial {
	resource := "clusterservice" + kind + " " + ref.Name
	if ref.Namespace != "" {
		resource = "-n " + ref.Namespace + " service" + kind + " " + ref.Name
	}
	return invalid("BrokenDefaults", "spec.parameters", "spec.defaultProvisionParameters of %s %q cannot be applied: %s", kind, ref.Name, err.Error()).
		remedy("an operator mends them: kubectl edit %s", resource)
}

// parameterNames are the top-level names that pointers lead into, for people.
func parameterNames(from map[string]string) string {
	names := map[string]bool{}
	for pointer := range from {
		name, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
		names[unescaper.Replace(name)] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), ", ")
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
