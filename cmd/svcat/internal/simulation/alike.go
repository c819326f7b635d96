package simulation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// alike groups namespaces by what admission may tell them apart by: classes, plans and
// types of their own, slots, and the policies that hold in them.
func (c *comparison) alike(namespaces map[string]bool) [][]string {
	groups := map[string][]string{}
	var order []string
	for _, namespace := range slices.Sorted(maps.Keys(namespaces)) {
		key := "namespace " + namespace
		if !c.every && !c.now.own[namespace] && !c.then.own[namespace] {
			key = "policies " + c.now.holding(namespace) + "/" + c.then.holding(namespace)
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], namespace)
	}
	all := make([][]string, len(order))
	for i, key := range order {
		all[i] = groups[key]
	}
	return all
}

// holding are the names of the policies that hold in a namespace; with each that limits how
// many instances there may be, how many slots it has granted there.
func (s *side) holding(namespace string) string {
	var held []string
	place := s.place(namespace)
	for i := range s.rules {
		switch rule := &s.rules[i]; {
		case !rule.Holds(place):
		case rule.Limits.Any():
			held = append(held, fmt.Sprintf("%s=%d", rule.Name, s.granted[limitKey{rule.Name, namespace, quota.Instances}]))
		default:
			held = append(held, rule.Name)
		}
	}
	slices.Sort(held)
	return strings.Join(held, ",")
}

// rulesOf are the policies as rules. Those that cannot be compiled have no effect.
func rulesOf(policies []v1beta1.ProvisioningPolicy) []policy.Rule {
	var rules []policy.Rule
	for i := range policies {
		if rule, err := policy.FromProvisioning(&policies[i]); err == nil {
			rules = append(rules, rule)
		}
	}
	return rules
}
