package resolve

import "fmt"

// chooseOnly chooses the single one of those that a rule prefers, and refuses several.
func (c preference) chooseOnly(preferred tally[PlanEntry], rule Rule) (decision, *Error) {
	if preferred.n == 1 {
		return decision{preferred.first, rule}, nil
	}
	s := c.search
	field, value, place := typeField, s.req.Type, InScope(c.scopeOf(rule))
	if s.class != nil {
		field, value, place = s.classField(), s.req.Class.Value, "in the class"
	}
	state, rest := "default", "only one can be"
	if rule.suggests() {
		state, rest = "suggested", "none is the default"
	}
	contends := func(p *PlanEntry) bool { return s.eligible(p) && c.prefers(rule, p) }
	return decision{}, &Error{Reason: Ambiguous, Field: field, Value: value, Rule: rule, Candidates: s.list(contends, fixed(state)),
		Detail: fmt.Sprintf("%d plans are %s %s, and %s", preferred.n, state, place, rest)}
}
