package quota

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

// A Kind is what slots are for.
type Kind int

// The kinds of objects that are limited.
const (
	Instances Kind = iota
	Bindings
)

// String is the kind in a word for people.
func (k Kind) String() string { return [...]string{"instances", "bindings"}[k] }

// Count is a number of the kind, for people.
func (k Kind) Count(n int32) string {
	words := k.String()
	if n == 1 {
		words = strings.TrimSuffix(words, "s")
	}
	return fmt.Sprintf("%d %s", n, words)
}

// Field is the field of a policy's spec that limits the kind.
func (k Kind) Field() string { return [...]string{"maxInstances", "maxBindings"}[k] }

// Of is the limit for the kind; nil is none.
func (k Kind) Of(limits policy.Limits) *int32 {
	if k == Bindings {
		return limits.Bindings
	}
	return limits.Instances
}

// Granted are the slots for the kind that a policy granted in a namespace. The list
// is the status's own.
func (k Kind) Granted(status *v1beta1.PolicyStatus, namespace string) []types.UID {
	for i := range status.Slots {
		slots := &status.Slots[i]
		if slots.Namespace == namespace && k == Bindings {
			return slots.Bindings
		}
		if slots.Namespace == namespace {
			return slots.Instances
		}
	}
	return nil
}

// A Stage says how far an object is with a plan that a policy selects.
type Stage int

// The stages, each of which outdoes those before it.
const (
	// Unselected: the policy selects no plan of the object.
	Unselected Stage = iota
	// Asked: nothing was sent to a broker yet, and nothing is without a slot.
	Asked
	// Doubtful: something may have been sent. It counts.
	Doubtful
	// Standing: the broker has it, or said that it works on it.
	Standing
)

// A Use is a plan that an object has, or asks for.
type Use struct {
	Target policy.Target
	Stage  Stage
}

func (k Kind) limits(rule *policy.Rule, target *policy.Target, place policy.Place) bool {
	return k.Of(rule.Limits) != nil && rule.Holds(place) && rule.Selects(*target)
}

// Stages says of each policy that limits one of the plans in the place how far the
// object is with it, by the name of the policy.
func (k Kind) Stages(rules []policy.Rule, uses []Use, place policy.Place) map[string]Stage {
	stages := map[string]Stage{}
	for i := range rules {
		for j := range uses {
			if use := &uses[j]; k.limits(&rules[i], &use.Target, place) {
				stages[rules[i].Name] = max(stages[rules[i].Name], use.Stage)
			}
		}
	}
	return stages
}
