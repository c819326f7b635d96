package resolve

// A Rule is the rule that made a choice: a stable lower-case word for annotations, warnings and metrics.
type Rule string

// The rules, in the order in which a request is held against them.
const (
	// RuleNamed chose the plan that is named.
	RuleNamed Rule = "named"
	// RuleOnlyPlan chose the only plan of the named class.
	RuleOnlyPlan Rule = "only-plan"
	// RuleClassDefault chose the one default among the plans of the named class.
	RuleClassDefault Rule = "class-default"
	// RuleClassSuggested chose the one suggested among the plans of the named class.
	RuleClassSuggested Rule = "class-suggested"
	// RuleSelector chose the heaviest plan that the selector matches.
	RuleSelector Rule = "selector"
	// RuleNamespaceDefault chose the default plan of the type in the request's namespace.
	RuleNamespaceDefault Rule = "namespace-default"
	// RuleClusterDefault chose the default plan of the type in the cluster.
	RuleClusterDefault Rule = "cluster-default"
	// RuleNamespaceSuggested chose the suggested plan of the type in the request's namespace.
	RuleNamespaceSuggested Rule = "namespace-suggested"
	// RuleClusterSuggested chose the suggested plan of the type in the cluster.
	RuleClusterSuggested Rule = "cluster-suggested"
)

// A Choice is the plan that a request means, and why.
type Choice struct {
	Plan  PlanEntry
	Class ClassEntry
	// Type is the plan's own type, else its class's; empty where neither has one.
	Type string
	Rule Rule
	// Recorded says that a default is the one its ServiceType records; otherwise the plan's annotation made it the
	// default.
	Recorded bool
	// Notes are sorted sentences for the catalog's administrator, such as about
	// a second plan annotated as default beside the recorded one.
	Notes []string

	round *round
}

// Candidates returns every plan that the request could have meant, sorted, with what became of it. It is computed
// when asked, from the catalog that the choice was made from, which must not have been changed since; not for use
// from two goroutines at once. The zero Choice has none.
func (c Choice) Candidates() []Candidate {
	if c.round == nil {
		return nil
	}
	return c.round.candidates()
}
