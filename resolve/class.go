package resolve

import "fmt"

// planOfClass is rule 2: only the class is named, and perhaps a type that narrows it.
type planOfClass struct{ preference }

func (c planOfClass) decide() (decision, *Error) {
	s := c.search
	if refused := s.findClass(); refused != nil {
		return decision{}, refused
	}
	var all, defaults, suggested tally[PlanEntry]
	for i := range s.plans.items {
		p := &s.plans.items[i]
		if !s.eligible(p) {
			continue
		}
		all.add(p)
		if s.isDefault(p) {
			defaults.add(p)
		}
		if p.Suggested {
			suggested.add(p)
		}
	}
	switch {
	case all.n == 0:
		return decision{}, s.nothingInClass()
	case all.n == 1:
		return decision{all.first, RuleOnlyPlan}, nil
	case defaults.n > 0:
		return c.chooseOnly(defaults, RuleClassDefault)
	case suggested.n > 0:
		return c.chooseOnly(suggested, RuleClassSuggested)
	}
	return decision{}, &Error{Reason: NoDefault, Field: s.classField(), Value: s.req.Class.Value,
		Detail: fmt.Sprintf("the class has %d plans, and none is its default or suggested: name a plan", all.n)}
}

func (planOfClass) tiers() []Rule { return []Rule{RuleOnlyPlan, RuleClassDefault, RuleClassSuggested} }
