package explain

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-base/featuregate"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// closed takes from a catalog what a feature gate that is off keeps closed, as the
// webhook does.
func closed(entries *resolve.Catalog, gates featuregate.FeatureGate) {
	defaults := gates.Enabled(options.ServiceTypes)
	suggestions := defaults && gates.Enabled(options.SuggestedPlans)
	for i := range entries.Plans {
		plan := &entries.Plans[i]
		plan.Default, plan.Suggested = plan.Default && defaults, plan.Suggested && suggestions
	}
	if !defaults {
		entries.Records = nil
	}
}

// opened is a default where its gate is on, and none where it is off.
func (x *explainer) opened(gate featuregate.Feature, given *runtime.RawExtension) *runtime.RawExtension {
	if x.options.Gates.Enabled(gate) {
		return given
	}
	return nil
}
