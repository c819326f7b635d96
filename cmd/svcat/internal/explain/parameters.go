package explain

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
)

// The layers, lowest first, as admission records them.
const (
	layerClass = "class"
	layerPlan  = "plan"
	layerUser  = "user"
)

// storedParameters are an object's parameters, with the origins on record.
func storedParameters(stored *runtime.RawExtension, applied *v1beta1.AppliedDefaults) []Parameter {
	values, err := decode(stored)
	if err != nil {
		return nil
	}
	layers := split(values, applied.From)
	merged, err := merge.Layers(
		merge.Layer{Name: layerClass, Values: layers[layerClass]}, merge.Layer{Name: layerPlan, Values: layers[layerPlan]},
		merge.Layer{Name: layerUser, Values: layers[layerUser]},
	)
	if err != nil {
		return nil
	}
	removed := map[string]bool{}
	for _, pointer := range applied.Removed {
		removed[pointer] = true
	}
	return listed(&merged, removed)
}

// mergedParameters are what class, plan and user give together now. A layer that
// cannot be read is admission's to complain about.
func mergedParameters(class, plan, user *runtime.RawExtension) []Parameter {
	var layers []merge.Layer
	for _, given := range []struct {
		name string
		raw  *runtime.RawExtension
	}{{layerClass, class}, {layerPlan, plan}, {layerUser, user}} {
		values, err := decode(given.raw)
		if err != nil {
			return nil
		}
		layers = append(layers, merge.Layer{Name: given.name, Values: values})
	}
	merged, err := merge.Layers(layers...)
	if err != nil {
		return nil
	}
	removed := map[string]bool{}
	for _, pointer := range merged.Removed {
		removed[string(pointer)] = true
	}
	return listed(&merged, removed)
}

func decode(raw *runtime.RawExtension) (map[string]any, error) {
	if raw == nil {
		return nil, nil
	}
	return merge.Decode(raw.Raw)
}

// listed are merged parameters in the order of their pointers.
func listed(merged *merge.Result, removed map[string]bool) []Parameter {
	var list []Parameter
	for _, pointer := range slices.Sorted(maps.Keys(merged.Origin)) {
		value, _ := pointer.Get(merged.Values)
		list = append(list, Parameter{
			Pointer: string(pointer), From: merged.Origin[pointer], Value: value, Removed: removed[string(pointer)],
		})
	}
	return list
}

// changed are the pointers at which two lists differ in value, sorted.
func changed(then, now []Parameter) []string {
	was := map[string]string{}
	for _, parameter := range then {
		was[parameter.Pointer] = compact(parameter.Value)
	}
	var differ []string
	for _, parameter := range now {
		value, known := was[parameter.Pointer]
		if !known || value != compact(parameter.Value) {
			differ = append(differ, parameter.Pointer)
		}
		delete(was, parameter.Pointer)
	}
	differ = append(differ, slices.Collect(maps.Keys(was))...)
	slices.Sort(differ)
	return differ
}

// secretsOf are the sources of more parameters, as NAME/KEY.
func secretsOf(sources []v1beta1.ParametersFromSource) []string {
	var secrets []string
	for _, source := range sources {
		if source.SecretKeyRef != nil {
			secrets = append(secrets, source.SecretKeyRef.Name+"/"+source.SecretKeyRef.Key)
		}
	}
	return secrets
}

// storedTransforms are a binding's, with the origins on record.
func storedTransforms(transforms []v1beta1.SecretTransform, applied *v1beta1.AppliedDefaults) []Transform {
	var list []Transform
	for i := range transforms {
		list = append(list, Transform{Does: does(&transforms[i]), From: originOf(applied, i)})
	}
	return list
}

// mergedTransforms are what class, plan and binding give together now.
func mergedTransforms(class, plan *v1beta1.Defaults, spec *v1beta1.ServiceBindingSpec) []Transform {
	layers := []merge.TransformLayer{{Name: layerUser, Transforms: spec.SecretTransforms}}
	if spec.SecretTransformDefaults != v1beta1.SecretTransformDefaultsNone {
		layers = append([]merge.TransformLayer{
			{Name: layerClass, Transforms: class.DefaultSecretTransforms}, {Name: layerPlan, Transforms: plan.DefaultSecretTransforms},
		}, layers...)
	}
	merged, err := merge.Transforms(layers...)
	if err != nil {
		return nil
	}
	return storedTransforms(merged.Transforms, &v1beta1.AppliedDefaults{Transforms: merged.Layers})
}

// does says what a transform does, without the value that it may write.
func does(t *v1beta1.SecretTransform) string {
	switch {
	case t.RenameKey != nil:
		return "renameKey " + t.RenameKey.From + " → " + t.RenameKey.To
	case t.AddKey != nil && t.AddKey.JSONPathExpression != nil:
		return "addKey " + t.AddKey.Key + " (computed from the credentials)"
	case t.AddKey != nil:
		return "addKey " + t.AddKey.Key
	case t.AddKeysFrom != nil && t.AddKeysFrom.SecretRef != nil:
		ref := t.AddKeysFrom.SecretRef
		return "addKeysFrom Secret " + strings.TrimPrefix(ref.Namespace+"/"+ref.Name, "/")
	case t.RemoveKey != nil:
		return "removeKey " + t.RemoveKey.Key
	case t.PublishKey != nil:
		return "publishKey " + t.PublishKey.Key
	case t.Preset != nil:
		return "preset " + t.Preset.Name
	}
	return "nothing"
}
