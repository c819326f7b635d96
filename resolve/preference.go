package resolve

// A preference chooses by defaults and suggestions, which is what requests for a class and for a type have in common.
type preference struct{ search *search }

// scopeOf is where a rule looks for plans: in the scope of the class that is named, else in the rule's own.
func (c preference) scopeOf(rule Rule) string {
	switch {
	case c.search.class != nil:
		return c.search.class.Namespace
	case rule == RuleNamespaceDefault || rule == RuleNamespaceSuggested:
		return c.search.req.Namespace
	}
	return ""
}

// prefers says that a rule of defaults or suggestions prefers the plan among those that are eligible.
func (c preference) prefers(rule Rule, p *PlanEntry) bool {
	switch {
	case p.Namespace != c.scopeOf(rule):
		return false
	case rule.suggests():
		return p.Suggested
	}
	return c.search.isDefault(p)
}

func (c preference) fate(p *PlanEntry, made decision) string {
	isDefault := c.search.isDefault(p)
	switch {
	case p.Default && !isDefault:
		return "annotated as the default, but another is recorded"
	case made.plan == nil:
		return "not the default"
	case !isDefault && p.Suggested && !made.rule.suggests():
		return "only suggested"
	case isDefault || p.Suggested:
		return "outranked by " + string(made.rule)
	case made.rule.suggests():
		return "not suggested"
	}
	return "not the default"
}

func (c preference) claims(p *PlanEntry, by Rule) bool {
	s := c.search
	switch {
	case !s.agrees(p) || p.Namespace != c.scopeOf(by):
		return false
	case by.suggests():
		return p.Suggested && (!s.live(p) || !s.isDefault(p))
	}
	return p.Default || s.isDefault(p)
}

// suggests says that the rule goes by suggestions rather than defaults.
func (u Rule) suggests() bool {
	return u == RuleClassSuggested || u == RuleNamespaceSuggested || u == RuleClusterSuggested
}
