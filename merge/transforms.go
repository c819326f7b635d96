package merge

import (
	"fmt"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// maxTransforms is how many transforms a binding may have: what the schema of its list allows.
const maxTransforms = 256

// A TransformLayer is one named list of secret transforms, in the order in which they run.
type TransformLayer struct {
	Name       string
	Transforms []v1beta1.SecretTransform
}

// MergedTransforms is the outcome of merging lists of secret transforms.
type MergedTransforms struct {
	// Transforms is the merged list, as it is stored; nil where no layer has any.
	Transforms []v1beta1.SecretTransform
	// Layers names, for each of Transforms, the layer that gave it.
	Layers []string
}

// Transforms merges lists of secret transforms, lowest precedence first: class, plan, binding. Each list is put over what
// the lists before it gave, and keeps its own order. An entry replaces all earlier ones on the same target, and takes the
// place of one of them; the rest of a list comes after everything earlier.
//
// A target is what a transform works on, told apart by its kind: renameKey.from, addKey.key, removeKey.key, publishKey.key,
// addKeysFrom.secretRef and preset.name, each as it is written. Renaming "a" and adding "a" are two targets.
//
// Transforms run in order, and one may use what another made, so a list is never reordered: an entry takes an earlier
// one's place only where all entries before it in its own list have taken places further up. From the first that has not
// on, a list stands after everything earlier. Nor does one list lose entries to itself: two on one target both run, as
// they always did. So a binding's own transforms are all there, in their order, and where they leave no default over
// they are the result.
//
// The laws of [Layers] hold here as well. No part of the result belongs to a layer. An entry that is no transform is a
// *[TransformError]; a result of more than 256 is a *[LimitError] that names the layer which gave most.
func Transforms(low ...TransformLayer) (MergedTransforms, error) {
	var merged []targeted
	for i := range low {
		above, err := aim(low[i].Transforms, i)
		if err != nil {
			err.Layer = low[i].Name
			return MergedTransforms{}, err
		}
		merged = putOver(merged, above)
	}
	if len(merged) > maxTransforms {
		return MergedTransforms{}, &LimitError{Layer: low[mostFrom(merged, len(low))].Name, Quantity: quantityTransforms, Max: maxTransforms}
	}
	var result MergedTransforms
	for _, t := range merged {
		result.Transforms = append(result.Transforms, *t.transform.DeepCopy())
		result.Layers = append(result.Layers, low[t.layer].Name)
	}
	return result, nil
}

// A targeted is a transform on its way through the merge, with the index of its layer.
type targeted struct {
	transform *v1beta1.SecretTransform
	target    target
	layer     int
}

// A target is what a transform works on: a key, a Secret, or what a preset of that name works on.
type target struct {
	kind      string
	namespace string
	name      string
}

// putOver puts a list over an earlier one: a walk down the earlier, in which each of its replaced entries gives its place
// to the next of the later, if that is on the same target.
func putOver(below, above []targeted) []targeted {
	replaced := make(map[target]bool, len(above))
	for _, t := range above {
		replaced[t.target] = true
	}
	merged := make([]targeted, 0, len(below)+len(above))
	for _, t := range below {
		if !replaced[t.target] {
			merged = append(merged, t)
			continue
		}
		if len(above) > 0 && above[0].target == t.target {
			merged, above = append(merged, above[0]), above[1:]
		}
	}
	return append(merged, above...)
}

// aim finds the targets of a layer's list.
func aim(transforms []v1beta1.SecretTransform, layer int) ([]targeted, *TransformError) {
	aimed := make([]targeted, len(transforms))
	for i := range transforms {
		targets := targetsOf(&transforms[i])
		if len(targets) != 1 {
			return nil, &TransformError{Index: i, Detail: "it must be exactly one of renameKey, addKey, addKeysFrom, removeKey, publishKey and preset"}
		}
		if targets[0].name == "" {
			return nil, &TransformError{Index: i, Detail: targets[0].kind + " is required"}
		}
		aimed[i] = targeted{transform: &transforms[i], target: targets[0], layer: layer}
	}
	return aimed, nil
}

// targetsOf is one target for each field that is set.
func targetsOf(t *v1beta1.SecretTransform) []target {
	var targets []target
	if t.RenameKey != nil {
		targets = append(targets, target{kind: "renameKey.from", name: t.RenameKey.From})
	}
	if t.AddKey != nil {
		targets = append(targets, target{kind: "addKey.key", name: t.AddKey.Key})
	}
	if t.AddKeysFrom != nil {
		var ref v1beta1.ObjectReference
		if t.AddKeysFrom.SecretRef != nil {
			ref = *t.AddKeysFrom.SecretRef
		}
		targets = append(targets, target{kind: "addKeysFrom.secretRef.name", namespace: ref.Namespace, name: ref.Name})
	}
	if t.RemoveKey != nil {
		targets = append(targets, target{kind: "removeKey.key", name: t.RemoveKey.Key})
	}
	if t.PublishKey != nil {
		targets = append(targets, target{kind: "publishKey.key", name: t.PublishKey.Key})
	}
	if t.Preset != nil {
		targets = append(targets, target{kind: "preset.name", name: t.Preset.Name})
	}
	return targets
}

// mostFrom is the layer that gave most entries; of equals the highest, which is the one that its user can change.
func mostFrom(merged []targeted, layers int) int {
	counts, most := make([]int, layers), 0
	for _, t := range merged {
		counts[t.layer]++
	}
	for layer, count := range counts {
		if count >= counts[most] {
			most = layer
		}
	}
	return most
}

// A TransformError says which entry of a list is no transform. Its text holds no value.
type TransformError struct {
	// Layer is the layer to change, and Index the entry's place in its list, from 0 on.
	Layer string
	Index int
	// Detail says what is wrong with the entry.
	Detail string
}

// Error names the entry and what is wrong with it.
func (e *TransformError) Error() string {
	return fmt.Sprintf("secret transform [%d] of layer %q cannot be used: %s", e.Index, e.Layer, e.Detail)
}
