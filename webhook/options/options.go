package options

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"
	"k8s.io/component-base/featuregate"
)

// The feature gates. All are on; with all off, the manifests of the retired
// Service Catalog are admitted as they always were.
const (
	// ServiceTypes lets an object be resolved by its type, by a selector, and by
	// defaults within a class.
	ServiceTypes featuregate.Feature = "ServiceTypes"
	// ParameterDefaults merges the default parameters of class and plan.
	ParameterDefaults featuregate.Feature = "ParameterDefaults"
	// BindDefaults merges the default bind parameters and the default secret
	// transforms of class and plan.
	BindDefaults featuregate.Feature = "BindDefaults"
	// SuggestedPlans lets a broker's suggestion stand where no default is set.
	SuggestedPlans featuregate.Feature = "SuggestedPlans"
	// SchemaChecks validates parameters by the plan's JSON schemas.
	SchemaChecks featuregate.Feature = "SchemaChecks"
)

// NewGates returns the feature gates at their defaults.
func NewGates() featuregate.MutableFeatureGate {
	gates := featuregate.NewFeatureGate()
	on := featuregate.FeatureSpec{Default: true, PreRelease: featuregate.Beta}
	// It only fails for a name that is added twice with different specs.
	if err := gates.Add(map[featuregate.Feature]featuregate.FeatureSpec{
		ServiceTypes: on, ParameterDefaults: on, BindDefaults: on, SuggestedPlans: on, SchemaChecks: on,
	}); err != nil {
		panic(err)
	}
	return gates
}

// What to do with an object that nothing resolves yet.
const (
	// UnresolvedReject denies it.
	UnresolvedReject = "reject"
	// UnresolvedWait admits it undecided; the keeper touches it when that may
	// help.
	UnresolvedWait = "wait"
)

// What to do with parameters that violate a plan's schema.
const (
	// SchemaEnforce denies them.
	SchemaEnforce = "enforce"
	// SchemaWarn admits them with a warning.
	SchemaWarn = "warn"
	// SchemaOff does not validate them.
	SchemaOff = "off"
)

// controllerUser is the controller's ServiceAccount as it is shipped.
const controllerUser = "system:serviceaccount:defaultplan-system:defaultplan-controller"

// Options are the settings of admission.
type Options struct {
	// Unresolved is UnresolvedReject or UnresolvedWait.
	Unresolved string
	// SchemaCheck is SchemaEnforce, SchemaWarn or SchemaOff.
	SchemaCheck string
	// Controllers are the user names of the controllers.
	Controllers []string
	// Gates are the feature gates.
	Gates featuregate.MutableFeatureGate
}

// New returns the defaults: reject, enforce, all gates on.
func New() *Options {
	return &Options{Unresolved: UnresolvedReject, SchemaCheck: SchemaEnforce, Controllers: []string{controllerUser}, Gates: NewGates()}
}

// Bind adds the options to flags.
func (o *Options) Bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.Unresolved, "unresolved", o.Unresolved,
		"what happens to an instance whose type has no default, whose selector matches nothing or whose class is absent: reject, or wait (admitted undecided, decided later)")
	flags.StringVar(&o.SchemaCheck, "schema-check", o.SchemaCheck,
		"what happens to parameters that the plan's JSON schema refuses: enforce (refused), warn, or off")
	flags.StringSliceVar(&o.Controllers, "controller-user", o.Controllers,
		"the users that controllers are to the API server: what they write of classes and plans is what brokers say, and may name no Secret; "+
			"a ServiceAccount stands for those of its namespace whose names go on from its own with a hyphen, too")
	o.Gates.AddFlag(flags)
}

// Validate says which option has a value that is not allowed.
func (o *Options) Validate() error {
	return errors.Join(
		oneOf("unresolved", o.Unresolved, UnresolvedReject, UnresolvedWait),
		oneOf("schema-check", o.SchemaCheck, SchemaEnforce, SchemaWarn, SchemaOff),
	)
}

func oneOf(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("--%s is %q; allowed are %v", flag, value, allowed)
}
