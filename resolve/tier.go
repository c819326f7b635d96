package resolve

import "fmt"

// byType is rule 4: only a type is given, and the first tier that has any plan decides.
func (r *round) byType() error {
	tiers := [...]Rule{RuleNamespaceDefault, RuleClusterDefault, RuleNamespaceSuggested, RuleClusterSuggested}
	var found [len(tiers)]tally[PlanEntry]
	for i := range r.plans.items {
		p := &r.plans.items[i]
		if !r.considered(p) || !r.live(p) {
			continue
		}
		isDefault := r.isDefault(p)
		for t, rule := range tiers {
			if rule.covers(p) && (isDefault && !rule.suggests() || p.Suggested && rule.suggests()) {
				found[t].add(p)
			}
		}
	}
	for t, rule := range tiers {
		if found[t].n > 0 {
			return r.chooseOnly(found[t], rule)
		}
	}
	return r.noDefault()
}

func (r *round) noDefault() error {
	candidates := r.list(r.considered, r.fate)
	detail := "no plan is of that type"
	if len(candidates) > 0 {
		detail = fmt.Sprintf("no plan of that type is a default or suggestion that can be chosen (%d in all)", len(candidates))
	}
	return r.fail(Error{Reason: NoDefault, Field: typeField, Value: r.req.Type, Detail: detail, Candidates: candidates})
}

// covers says that the rule looks at plans of the plan's scope. The rules for a class have a scope already, that of
// the class.
func (u Rule) covers(p *PlanEntry) bool {
	switch u {
	case RuleNamespaceDefault, RuleNamespaceSuggested:
		return p.Namespace != ""
	case RuleClusterDefault, RuleClusterSuggested:
		return p.Namespace == ""
	case RuleNamed, RuleOnlyPlan, RuleClassDefault, RuleClassSuggested, RuleSelector:
	}
	return true
}

// suggests says that the rule goes by suggestions rather than defaults.
func (u Rule) suggests() bool {
	return u == RuleClassSuggested || u == RuleNamespaceSuggested || u == RuleClusterSuggested
}
