package resolve

import "fmt"

// byClass is rule 2: only the class is named, and perhaps a type that narrows it.
func (r *round) byClass() error {
	if err := r.findClass(); err != nil {
		return err
	}
	var all, defaults, suggested tally[PlanEntry]
	for i := range r.plans.items {
		p := &r.plans.items[i]
		if !r.considered(p) || !r.agrees(p) || !r.live(p) {
			continue
		}
		all.add(p)
		if r.isDefault(p) {
			defaults.add(p)
		}
		if p.Suggested {
			suggested.add(p)
		}
	}
	switch {
	case all.n == 0:
		return r.nothingInClass()
	case all.n == 1:
		r.choose(all.first, RuleOnlyPlan)
		return nil
	case defaults.n > 0:
		return r.chooseOnly(defaults, RuleClassDefault)
	case suggested.n > 0:
		return r.chooseOnly(suggested, RuleClassSuggested)
	}
	return r.fail(Error{Reason: NoDefault, Field: r.classField(), Value: r.req.Class.Value, Candidates: r.list(r.considered, r.fate),
		Detail: fmt.Sprintf("the class has %d plans, and none is its default or suggested: name a plan", all.n)})
}

// chooseOnly chooses the single one of those that a rule prefers, and refuses several.
func (r *round) chooseOnly(preferred tally[PlanEntry], rule Rule) error {
	if preferred.n == 1 {
		r.choose(preferred.first, rule)
		return nil
	}
	field, value := typeField, r.req.Type
	if r.class != nil {
		field, value = r.classField(), r.req.Class.Value
	}
	state, rest := "default", "only one can be"
	if rule.suggests() {
		state, rest = "suggested", "none is the default"
	}
	contenders := r.list(r.liveAnd(r.preferredBy(rule)), fixed(state))
	return r.fail(Error{Reason: Ambiguous, Field: field, Value: value, Rule: rule, Candidates: contenders,
		Detail: fmt.Sprintf("%d plans are %s %s, and %s", preferred.n, state, r.placeOf(rule), rest)})
}

// preferredBy says which plans a rule of defaults or suggestions prefers.
func (r *round) preferredBy(rule Rule) func(*PlanEntry) bool {
	return func(p *PlanEntry) bool {
		if !r.considered(p) || !r.agrees(p) || !rule.covers(p) {
			return false
		}
		if rule.suggests() {
			return p.Suggested
		}
		return r.isDefault(p)
	}
}

// nothingInClass tells a class of another type from one without a plan to choose.
func (r *round) nothingInClass() error {
	others := r.list(r.liveAnd(r.considered), r.typeFate)
	if len(others) > 0 {
		return r.typeMismatch(others)
	}
	return r.fail(Error{Reason: NoMatch, Field: r.classField(), Value: r.req.Class.Value,
		Detail: "the class has no plan that can be chosen", Candidates: r.list(r.considered, r.fate)})
}
