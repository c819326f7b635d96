package offline

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/component-base/featuregate"

	"github.com/defaultplan/defaultplan/webhook/options"
)

// BindFlags adds the flags by which a person says what a cluster's webhook was
// started with, so that admission without it is the same.
func BindFlags(flags *pflag.FlagSet, options *options.Options) {
	gates := slices.DeleteFunc(slices.Sorted(maps.Keys(options.Gates.GetAll())), func(gate featuregate.Feature) bool {
		return strings.HasPrefix(string(gate), "All")
	})
	names := make([]string, len(gates))
	for i, gate := range gates {
		names[i] = string(gate)
	}
	options.Bind(flags)
	for name, usage := range map[string]string{
		"unresolved":    "What your webhook does with what nothing resolves: reject, or wait (admitted undecided, decided later)",
		"schema-check":  "What your webhook does with parameters that the plan's schema refuses: enforce, warn or off",
		"feature-gates": "Which `GATES` your webhook has closed, as in SuggestedPlans=false; there are " + strings.Join(names, ", "),
	} {
		flags.Lookup(name).Usage = usage
	}
	// It only matters for what the controller writes, and there is no
	// controller here. It fails for a flag that does not exist.
	_ = flags.MarkHidden("controller-user")
}
