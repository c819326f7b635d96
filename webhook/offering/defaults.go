package offering

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-base/featuregate"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/webhook/options"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/schema"
)

// A schemaField is one of a plan's JSON schemas.
type schemaField struct {
	name string
	of   func(*v1beta1.CommonServicePlanSpec) *runtime.RawExtension
}

// planSchemas are the schemas that a plan may have.
var planSchemas = []schemaField{
	{"spec.instanceCreateParameterSchema", schema.ForCreate},
	{"spec.instanceUpdateParameterSchema", schema.ForUpdate},
	{"spec.serviceBindingCreateParameterSchema", schema.ForBinding},
}

// A checkedDefault is a default, the gate by which it applies, and the schema that
// validates it.
type checkedDefault struct {
	parameters.Defaulted

	gate   featuregate.Feature
	schema schemaField
}

var checkedDefaults = []checkedDefault{
	{parameters.ProvisionDefaults, options.ParameterDefaults, planSchemas[0]},
	{parameters.BindDefaults, options.BindDefaults, planSchemas[2]},
}

// changedBy says that the write gives a default that it found otherwise.
func (d *checkedDefault) changedBy(c *change, gates featuregate.FeatureGate) bool {
	return gates.Enabled(d.gate) && !parameters.Same(d.Value(c.old.defaults), d.Value(c.new.defaults))
}

// refuseDefaults refuses default parameters that could not be merged.
func refuseDefaults(c *change, gates featuregate.FeatureGate) *review.Denial {
	var denied *review.Denial
	for i := range checkedDefaults {
		field := &checkedDefaults[i]
		if !field.changedBy(c, gates) {
			continue
		}
		values, err := merge.Decode(parameters.Raw(field.Value(c.new.defaults)))
		if err == nil {
			_, err = merge.Layers(merge.Layer{Name: c.new.layer(), Values: values})
		}
		if err != nil {
			denied = denied.Also(review.Invalid("InvalidDefaults", field.Name, "%s", err.Error()))
		}
	}
	return denied
}

// mergedDefaults are the parameters that class and plan give together; false says
// that they give none, or such as cannot be merged.
func mergedDefaults(field *checkedDefault, class, plan *offering) (merge.Result, bool) {
	var layers []merge.Layer
	for _, one := range []*offering{class, plan} {
		values, err := merge.Decode(parameters.Raw(field.Value(one.defaults)))
		if err != nil {
			// The error is reported at the write of the default, and wherever
			// it would be applied.
			return merge.Result{}, false
		}
		layers = append(layers, merge.Layer{Name: one.layer(), Values: values})
	}
	merged, err := merge.Layers(append(layers, merge.Layer{Name: parameters.LayerUser})...)
	return merged, err == nil && merged.Values != nil
}
