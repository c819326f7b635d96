package resolve

// Plan returns the plan that a request means. Every error it returns is an *Error. It is linear in the catalog, and
// allocates next to nothing where the catalog is a narrow slice and the answer a Choice.
func Plan(req Request, cat Catalog) (Choice, error) {
	r := newRound(req, cat)
	if refused := r.decide(); refused != nil {
		return Choice{}, refused
	}
	return r.choice(), nil
}

// A strategy chooses for one form of request: a plan is named, a selector is given, a class is named, or only a type
// is given.
type strategy interface {
	// decide chooses. Where it refuses for want of a plan, the candidates are added for it.
	decide() (decision, *Error)
	// fate says why a plan that is eligible was not chosen.
	fate(p *PlanEntry, made decision) string
	// tiers are the rules that the request goes through, in this order.
	tiers() []Rule
	// claims says that the plan asks to be chosen by one of these rules, whether or not it can be.
	claims(p *PlanEntry, by Rule) bool
}

// A decision is the chosen plan and the rule that chose it; the zero decision chose none.
type decision struct {
	plan *PlanEntry
	rule Rule
}

// A round is one request held against one catalog: set up and decided once, and afterwards asked by Candidates.
type round struct {
	search   search
	strategy strategy // nil where the request contradicts itself or names nothing
	made     decision
}

func newRound(req Request, cat Catalog) *round {
	return &round{search: search{entries: entriesOf(cat), req: req}}
}

// decide has the strategy choose that the request's form asks for.
func (r *round) decide() *Error {
	if refused := r.search.req.contradiction(); refused != nil {
		return refused
	}
	if r.strategy = strategyFor(&r.search); r.strategy == nil {
		return &Error{Reason: NothingNamed, Field: "spec",
			Detail: "it names no plan: set serviceType, a class, a class and a plan, or planSelector"}
	}
	made, refused := r.strategy.decide()
	if refused != nil {
		r.complete(refused)
		return refused
	}
	r.made = made
	return nil
}

func strategyFor(s *search) strategy {
	switch {
	case s.req.Plan.Value != "":
		return planByName{s}
	case s.req.Selector != nil:
		return &planBySelector{search: s}
	case s.req.Class.Value != "":
		return planOfClass{preference{s}}
	case s.req.Type != "":
		return planOfType{preference{s}}
	}
	return nil
}

// complete adds to a refusal the class that was found, and all plans that were considered where none could be chosen.
func (r *round) complete(refused *Error) {
	if class := r.search.class; class != nil {
		refused.Class = display(class.ExternalName, class.Name)
	}
	switch refused.Reason {
	case NoMatch, NoDefault, PlanNotFound:
		refused.Candidates = r.candidates()
	case NothingNamed, InvalidReference, InvalidSelector, ClassNotFound, Unusable, ClassMismatch, TypeMismatch, Ambiguous:
	}
}

func (r *round) choice() Choice {
	s, p := &r.search, r.made.plan
	c := Choice{Plan: *p, Class: *s.classOf(p), Type: s.typeOf(p), Rule: r.made.rule, round: r}
	switch c.Rule {
	case RuleClassDefault, RuleNamespaceDefault, RuleClusterDefault:
		c.Recorded = s.believed(c.Type, p.Namespace) != nil
		c.Notes = s.notes(c.Type)
	case RuleClassSuggested, RuleNamespaceSuggested, RuleClusterSuggested:
		c.Notes = s.notes(c.Type)
	case RuleNamed, RuleOnlyPlan, RuleSelector:
	}
	return c
}

// candidates are all plans that the request could have meant.
func (r *round) candidates() []Candidate { return r.search.list(r.search.considered, r.fate) }

// fate says what became of a plan that the request could have meant.
func (r *round) fate(p *PlanEntry) string {
	switch {
	case p == r.made.plan:
		return "chosen"
	case !r.search.live(p):
		return r.search.goneFate(p)
	case !r.search.agrees(p):
		return r.search.typeFate(p)
	}
	return r.strategy.fate(p, r.made)
}
