package parameters

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// The layers of an instance's parameters, lowest first, as they are recorded.
const (
	LayerClass = "class"
	LayerPlan  = "plan"
	LayerUser  = "user"
)

// An Addition is a subtree that a default adds to a field of spec that holds parameters.
type Addition struct {
	Field, Pointer string

	Value any
}

// LostLayer goes before the name of a layer whose plan is gone.
const LostLayer = "lost-"

// A Defaulted is a field of class and plan that holds default parameters.
type Defaulted struct {
	Name  string
	Value func(*v1beta1.Defaults) *runtime.RawExtension
}

// The fields with the default parameters of a provision and of a bind.
var (
	ProvisionDefaults = Defaulted{"spec.defaultProvisionParameters", func(d *v1beta1.Defaults) *runtime.RawExtension { return d.DefaultProvisionParameters }}
	BindDefaults      = Defaulted{"spec.defaultBindParameters", func(d *v1beta1.Defaults) *runtime.RawExtension { return d.DefaultBindParameters }}
)

// Layers are the parameters that class and plan give, decoded, lowest
// first.
func (d *Defaults) Layers(defined *catalog.Definition, field Defaulted) ([]merge.Layer, *review.Denial) {
	class, err := d.of(field.Value(&defined.ClassSpec.Defaults))
	if err != nil {
		return nil, brokenDefaults(field, "class", defined.Class.Ref, err)
	}
	plan, err := d.of(field.Value(&defined.PlanSpec.Defaults))
	if err != nil {
		return nil, brokenDefaults(field, "plan", defined.Plan.Ref, err)
	}
	return []merge.Layer{{Name: LayerClass, Values: class}, {Name: LayerPlan, Values: plan}}, nil
}

// Merge merges what defined and the user give.
func Merge(layers []merge.Layer, defined *catalog.Definition) (merge.Result, *review.Denial, error) {
	result, err := merge.Layers(layers...)
	if limit := (*merge.LimitError)(nil); errors.As(err, &limit) {
		return merge.Result{}, review.Invalid("TooLarge", "spec.parameters", "%s", limit.Error()), nil
	}
	if err != nil {
		return merge.Result{}, nil, fmt.Errorf("cannot merge the defaults of plan %q: %w", defined.Title(), err)
	}
	return result, nil, nil
}

// brokenDefaults refuses to leave out defaults that cannot be read: an instance
// without them would be another one than the operator meant.
func brokenDefaults(field Defaulted, kind string, ref resolve.Ref, err error) *review.Denial {
	return review.Invalid("BrokenDefaults", "spec.parameters", "%s of %s %q cannot be applied: %s", field.Name, kind, ref.Name, err.Error()).
		Remedy("an operator mends them: kubectl edit %s", suggest.Resource("service"+kind, ref))
}

// AdditionsOf are the subtrees that defaults add to spec.parameters.
func AdditionsOf(merged *merge.Result) []Addition {
	added := make([]Addition, len(merged.Added))
	for i, one := range merged.Added {
		added[i] = Addition{"parameters", string(one.Pointer), one.Value}
	}
	return added
}
