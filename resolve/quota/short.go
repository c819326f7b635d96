package quota

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

// A Granting is a policy with limits, and what it granted.
type Granting struct {
	Rule   policy.Rule
	Status *v1beta1.PolicyStatus
}

// Grantings are those of the policies that limit something, by name. Those that
// cannot be compiled have no effect, here as everywhere.
func Grantings(policies []v1beta1.ProvisioningPolicy) []Granting {
	var all []Granting
	for i := range policies {
		if rule, err := policy.FromProvisioning(&policies[i]); err == nil && rule.Limits.Any() {
			all = append(all, Granting{Rule: rule, Status: &policies[i].Status})
		}
	}
	slices.SortFunc(all, Granting.Compare)
	return all
}

// Compare orders by name.
func (g Granting) Compare(other Granting) int { return strings.Compare(g.Rule.Name, other.Rule.Name) }

// A Shortage says of which policy an object has no slot.
type Shortage struct {
	Policy string
	// Message is the operator's; it may be empty.
	Message string
	// Limit is how many slots there are, and Granted how many are.
	Limit   int32
	Granted int
}

// Short says which is the first policy of which the object lacks a slot; nil: it may be
// made.
func (k Kind) Short(all []Granting, uses []Use, place policy.Place, uid types.UID) *Shortage {
	return k.first(all, uses, place, uid, func(*Shortage) bool { return true })
}

// Full says which is the first policy that has no slot left for the object, which has
// none of it; an object that does not exist yet has no UID. Nil: there may be one.
func (k Kind) Full(all []Granting, uses []Use, place policy.Place, uid types.UID) *Shortage {
	return k.first(all, uses, place, uid, func(s *Shortage) bool { return s.Granted >= int(s.Limit) })
}

func (k Kind) first(all []Granting, uses []Use, place policy.Place, uid types.UID, is func(*Shortage) bool) *Shortage {
	for i := range all {
		rule := &all[i].Rule
		if !k.Limits(rule, uses, place) {
			continue
		}
		granted := k.Granted(all[i].Status, place.Namespace)
		short := Shortage{Policy: rule.Name, Message: rule.Message, Limit: *k.Of(rule.Limits), Granted: len(granted)}
		if !slices.Contains(granted, uid) && is(&short) {
			return &short
		}
	}
	return nil
}

// Limits says that a rule limits how many there may be of one of the uses in a place.
func (k Kind) Limits(rule *policy.Rule, uses []Use, place policy.Place) bool {
	return slices.ContainsFunc(uses, func(use Use) bool { return k.limits(rule, &use.Target, place) })
}
