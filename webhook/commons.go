package webhook

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/merge/schemacache"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// commons is what the admission of instances and that of bindings share.
type commons struct {
	resolver *resolver
	schemas  *schemas
	defaults *defaults
	policies *policies
	access   access
	options  *Options
}

func newCommons(readers Readers, options *Options, now clock.PassiveClock) *commons {
	found := &catalog{cached: readers.Cached, live: readers.Live, clock: now}
	policies := newPolicies(readers)
	return &commons{
		resolver: &resolver{catalog: found, policies: policies, gates: options.Gates},
		schemas:  &schemas{catalog: found, compiled: schemacache.New(func(kept int) { schemasKept.Set(float64(kept)) })},
		defaults: newDefaults(),
		policies: policies,
		access:   access{readers.Access},
		options:  options,
	}
}

// A defaulted is a field of class and plan that holds default parameters.
type defaulted struct {
	name  string
	value func(*v1beta1.Defaults) *runtime.RawExtension
}

var (
	provisionDefaults = defaulted{"spec.defaultProvisionParameters", func(d *v1beta1.Defaults) *runtime.RawExtension { return d.DefaultProvisionParameters }}
	bindDefaults      = defaulted{"spec.defaultBindParameters", func(d *v1beta1.Defaults) *runtime.RawExtension { return d.DefaultBindParameters }}
)

// defaultLayers are the parameters that class and plan give, decoded, lowest
// first.
func (h *commons) defaultLayers(defined *definition, field defaulted) ([]merge.Layer, *review.Denial) {
	class, err := h.defaults.of(field.value(&defined.class.Defaults))
	if err != nil {
		return nil, brokenDefaults(field, "class", defined.Class.Ref, err)
	}
	plan, err := h.defaults.of(field.value(&defined.plan.Defaults))
	if err != nil {
		return nil, brokenDefaults(field, "plan", defined.Plan.Ref, err)
	}
	return []merge.Layer{{Name: layerClass, Values: class}, {Name: layerPlan, Values: plan}}, nil
}

// mergeLayers merges what defined and the user give.
func mergeLayers(layers []merge.Layer, defined *definition) (merge.Result, *review.Denial, error) {
	result, err := merge.Layers(layers...)
	if limit := (*merge.LimitError)(nil); errors.As(err, &limit) {
		return merge.Result{}, review.Invalid("TooLarge", "spec.parameters", "%s", limit.Error()), nil
	}
	if err != nil {
		return merge.Result{}, nil, fmt.Errorf("cannot merge the defaults of plan %q: %w", defined.title(), err)
	}
	return result, nil, nil
}

// enforcesSchemas says whether parameters that violate a schema are denied.
func (h *commons) enforcesSchemas() bool {
	return h.options.SchemaCheck == SchemaEnforce && h.options.Gates.Enabled(SchemaChecks)
}
