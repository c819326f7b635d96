package resolve

import "k8s.io/apimachinery/pkg/labels"

// Plan returns the plan that a request means. Every error it returns is an *Error. It is linear in the catalog, and
// allocates next to nothing where the catalog is a narrow slice and the answer a Choice.
func Plan(req Request, cat Catalog) (Choice, error) {
	r := newRound(req, cat)
	if err := r.req.contradiction(); err != nil {
		return Choice{}, err
	}
	if err := r.decide(); err != nil {
		return Choice{}, err
	}
	return r.choice(), nil
}

// A round is one request held against one catalog: set up and decided once, and afterwards asked by Candidates.
type round struct {
	req     Request
	classes index[ClassEntry]
	plans   index[PlanEntry]
	records index[Record]

	class    *ClassEntry     // the named class, once found
	selector labels.Selector // the parsed selector, if any
	seen     layered         // the labels that the selector is looking at
	chosen   *PlanEntry
	rule     Rule
}

func newRound(req Request, cat Catalog) *round {
	return &round{
		req:     req,
		classes: index[ClassEntry]{items: cat.Classes, key: classKey},
		plans:   index[PlanEntry]{items: cat.Plans, key: planKey},
		records: index[Record]{items: cat.Records, key: recordKey},
	}
}

// decide holds the request against the rules; exactly one of them is its own.
func (r *round) decide() error {
	switch {
	case r.req.Plan.Value != "":
		return r.byName()
	case r.req.Selector != nil:
		return r.bySelector()
	case r.req.Class.Value != "":
		return r.byClass()
	case r.req.Type != "":
		return r.byType()
	}
	return &Error{Reason: NothingNamed, Field: "spec",
		Detail: "it names no plan: set serviceType, a class, a class and a plan, or planSelector"}
}

func (r *round) choose(p *PlanEntry, rule Rule) {
	r.chosen, r.rule = p, rule
}

func (r *round) choice() Choice {
	c := Choice{Plan: *r.chosen, Class: *r.classOf(r.chosen), Type: r.typeOf(r.chosen), Rule: r.rule, round: r}
	switch r.rule {
	case RuleClassDefault, RuleNamespaceDefault, RuleClusterDefault:
		c.Recorded = r.believed(c.Type, c.Plan.Namespace) != nil
		c.Notes = r.notes()
	case RuleClassSuggested, RuleNamespaceSuggested, RuleClusterSuggested:
		c.Notes = r.notes()
	case RuleNamed, RuleOnlyPlan, RuleSelector:
	}
	return c
}
