package resolve

// Words is the rule as people are told it, completing "chosen as …": "default of the cluster". namespace is the
// request's, class the name of the chosen plan's class, empty where it is not known. A rule that is not one of this
// package's is its own word.
func (r Rule) Words(namespace, class string) string {
	of := "the class"
	if class != "" {
		of = "class " + class
	}
	switch r {
	case RuleNamed:
		return "named"
	case RuleOnlyPlan:
		return "the only plan of " + of
	case RuleClassDefault:
		return "default of " + of
	case RuleClassSuggested:
		return "suggested in " + of
	case RuleSelector:
		return "the heaviest match"
	case RuleNamespaceDefault:
		return "default of namespace " + namespace
	case RuleClusterDefault:
		return "default of the cluster"
	case RuleNamespaceSuggested:
		return "suggested in namespace " + namespace
	case RuleClusterSuggested:
		return "suggested in the cluster"
	}
	return string(r)
}
