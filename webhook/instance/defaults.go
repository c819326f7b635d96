package instance

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// A merging merges the parameters of an instance: class < plan < user.
type merging struct {
	defaults *parameters.Defaults
	// enabled says that defaults apply to the instance.
	enabled bool
	// lost is the plan that was decided on before, nil for none. Its defaults are below all
	// layers: they do not count as the user's.
	lost *lostPlan
}

// merge merges the defaults of a plan into the parameters that the instance has.
func (m *merging) merge(given *runtime.RawExtension, defined *catalog.Definition) (merge.Result, *review.Denial, error) {
	user, denied := parameters.Decode(given)
	if denied != nil {
		return merge.Result{}, denied, nil
	}
	if !m.enabled {
		return parameters.Merge([]merge.Layer{{Name: parameters.LayerUser, Values: user}}, defined)
	}
	defaults, denied := m.defaults.Layers(defined, parameters.ProvisionDefaults)
	if denied != nil {
		return merge.Result{}, denied, nil
	}
	layers, user := m.lost.layers(user)
	return parameters.Merge(append(append(layers, defaults...), merge.Layer{Name: parameters.LayerUser, Values: user}), defined)
}

// record is the record of defaults: which layer each came from, and which a
// null removed. More than can be recorded is a denial.
func (m *merging) record(choice *resolve.Choice, merged *merge.Result) (v1beta1.AppliedDefaults, *review.Denial) {
	var applied v1beta1.AppliedDefaults
	parameters.RecordChoice(&applied, string(choice.Rule), &choice.Class, &choice.Plan)
	parameters.NoteMerged(&applied, merged)
	applied.Removed = m.lost.stillRemoved(applied.Removed, merged.Values)
	return applied, parameters.TooMuchRemoved(&applied)
}
