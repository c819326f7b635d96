package resolve

import (
	"fmt"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// planOfType is rule 4: only a type is given, and the first tier that has any plan decides.
type planOfType struct{ preference }

func (t planOfType) decide() (decision, *Error) {
	s, tiers := t.search, t.tiers()
	found := make([]tally[PlanEntry], len(tiers))
	for i := range s.plans.items {
		p := &s.plans.items[i]
		if !s.eligible(p) {
			continue
		}
		for tier, rule := range tiers {
			if t.prefers(rule, p) {
				found[tier].add(p)
			}
		}
	}
	for tier, rule := range tiers {
		if found[tier].n > 0 {
			return t.chooseOnly(found[tier], rule)
		}
	}
	return decision{}, t.noDefault()
}

// tiers are those of a namespace and of the cluster, or of the cluster alone where the request has no namespace.
func (t planOfType) tiers() []Rule {
	return v1beta1.PerScope(t.search.req.Namespace, []Rule{RuleClusterDefault, RuleClusterSuggested},
		[]Rule{RuleNamespaceDefault, RuleClusterDefault, RuleNamespaceSuggested, RuleClusterSuggested})
}

func (t planOfType) noDefault() *Error {
	detail := "no plan is of that type"
	if n := t.search.count(t.search.considered); n > 0 {
		detail = fmt.Sprintf("no plan of that type is a default or suggestion that can be chosen (%d in all)", n)
	}
	return &Error{Reason: NoDefault, Field: typeField, Value: t.search.req.Type, Detail: detail}
}
