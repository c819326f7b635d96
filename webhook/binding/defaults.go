package binding

import (
	"errors"
	"fmt"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// A merging merges the defaults for bindings of class and plan into the spec of a binding.
type merging struct {
	defaults *parameters.Defaults
	// enabled says that defaults apply.
	enabled bool
	spec    *bindingSpec
}

// mergedDefaults are the parameters and transforms of a binding, with the defaults.
type mergedDefaults struct {
	parameters merge.Result
	transforms []v1beta1.SecretTransform
}

// merge merges both, and completes the record of the defaults.
func (m *merging) merge(defined *catalog.Definition, applied *v1beta1.AppliedDefaults) (mergedDefaults, *review.Denial, error) {
	merged, denied, err := m.parameters(defined)
	if err != nil {
		return mergedDefaults{}, nil, err
	}
	if denied == nil {
		parameters.NoteMerged(applied, &merged)
	}
	transforms, layers, refused := m.transforms(defined)
	if denied = denied.Also(refused); denied != nil {
		return mergedDefaults{}, denied, nil
	}
	if len(transforms) > len(m.spec.SecretTransforms) {
		applied.Transforms = layers
	}
	return mergedDefaults{merged, transforms}, parameters.TooMuchRemoved(applied), nil
}

// parameters merges the parameters class < plan < binding.
func (m *merging) parameters(defined *catalog.Definition) (merge.Result, *review.Denial, error) {
	user, denied := parameters.Decode(m.spec.Parameters)
	if denied != nil {
		return merge.Result{}, denied, nil
	}
	var layers []merge.Layer
	if m.enabled {
		if layers, denied = m.defaults.Layers(defined, parameters.BindDefaults); denied != nil {
			return merge.Result{}, denied, nil
		}
	}
	return parameters.Merge(append(layers, merge.Layer{Name: parameters.LayerUser, Values: user}), defined)
}

// transforms merges the transforms of class, plan and binding; layers says whose each is.
func (m *merging) transforms(defined *catalog.Definition) (transforms []v1beta1.SecretTransform, layers []string, denied *review.Denial) {
	given := []merge.TransformLayer{{Name: parameters.LayerUser, Transforms: m.spec.SecretTransforms}}
	if m.enabled && m.spec.SecretTransformDefaults != v1beta1.SecretTransformDefaultsNone {
		given = append([]merge.TransformLayer{
			{Name: parameters.LayerClass, Transforms: defined.ClassSpec.DefaultSecretTransforms},
			{Name: parameters.LayerPlan, Transforms: defined.PlanSpec.DefaultSecretTransforms},
		}, given...)
	}
	merged, err := merge.Transforms(given...)
	if wrong, ok := errors.AsType[*merge.TransformError](err); ok && wrong.Layer == parameters.LayerUser {
		return nil, nil, review.Invalid("InvalidTransforms", fmt.Sprintf("spec.secretTransforms[%d]", wrong.Index), "%s", wrong.Detail).
			Remedy("kubectl explain servicebinding.spec.secretTransforms")
	}
	if err != nil {
		return nil, nil, review.Invalid("InvalidTransforms", "spec.secretTransforms", "%s", err.Error()).
			Remedy("set spec.secretTransformDefaults: None to ignore the transforms of class and plan")
	}
	return merged.Transforms, merged.Layers, nil
}
