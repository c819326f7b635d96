package policy

import (
	"cmp"
	"slices"
	"strings"
)

// A Refusal says which policies keep a target from a place.
type Refusal struct {
	// Kind is the kind of these policies.
	Kind string
	// Policies are their names, sorted: the one that denies, or all that allow
	// the target elsewhere. There is one at least.
	Policies []string
	// NotAllowed says that the policies allow the target, but not in this place;
	// otherwise one denies it there.
	NotAllowed bool
	// Message is what the operator says: that of the first of the policies which
	// has one.
	Message string
	// Costs say what the plan costs and the limit, where the first of the policies selects it
	// by its costs alone.
	Costs string
}

// Judge says what the rules refuse the target in the place; nil means that it is
// allowed. The rules may be all there are, or those that have one of the target's
// keys, in any order, and a rule may come twice. Rules about bindings count only
// where the target has an instance that one could bind to, and those that only limit
// never do.
func Judge(rules []Rule, target Target, place Place) *Refusal {
	var denying *Rule
	var allowing []*Rule
	for i := range rules {
		rule := &rules[i]
		if rule.OnlyLimits || rule.Kind == KindBinding && target.Instance == nil || rule.Deny && !rule.Holds(place) || !rule.selects(&target) {
			continue
		}
		if !rule.Deny {
			allowing = append(allowing, rule)
			continue
		}
		if denying == nil || compare(rule, denying) < 0 {
			denying = rule
		}
	}
	if denying != nil {
		return &Refusal{Kind: denying.Kind, Policies: []string{denying.Name}, Message: denying.Message, Costs: denying.costsOf(&target)}
	}
	// An instance's own right to be comes before the right to bind to it.
	return cmp.Or(notAllowed(KindProvisioning, allowing, &target, place), notAllowed(KindBinding, allowing, &target, place))
}

// notAllowed is the refusal of those rules of a kind that allow the target, if
// there are any, and none of them holds in the place.
func notAllowed(kind string, allowing []*Rule, target *Target, place Place) *Refusal {
	var elsewhere []*Rule
	for _, rule := range allowing {
		if rule.Kind != kind {
			continue
		}
		if rule.Holds(place) {
			return nil
		}
		elsewhere = append(elsewhere, rule)
	}
	if len(elsewhere) == 0 {
		return nil
	}
	slices.SortFunc(elsewhere, compare)
	refusal := &Refusal{Kind: kind, NotAllowed: true, Costs: elsewhere[0].costsOf(target)}
	for _, rule := range elsewhere {
		refusal.Policies = append(refusal.Policies, rule.Name)
		refusal.Message = cmp.Or(refusal.Message, rule.Message)
	}
	refusal.Policies = slices.Compact(refusal.Policies)
	return refusal
}

// compare orders rules by name; only policies of different kinds share one.
func compare(a, b *Rule) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Kind, b.Kind))
}
