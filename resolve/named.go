package resolve

import "fmt"

// Fits says that an entry with these names is the named one.
func (n Named) Fits(name, externalName, externalID string) bool {
	switch n.By {
	case ByExternalName:
		return externalName == n.Value
	case ByExternalID:
		return externalID == n.Value
	case ByName:
	}
	return name == n.Value
}

// split counts what fits, live and gone apart: a name that fits a live entry does not mean the ones that are gone.
func split[T any](items []T, fits, isLive func(*T) bool) (live, gone tally[T]) {
	for i := range items {
		switch {
		case !fits(&items[i]):
		case isLive(&items[i]):
			live.add(&items[i])
		default:
			gone.add(&items[i])
		}
	}
	return live, gone
}

// planByName is rule 1: class and plan are named.
type planByName struct{ search *search }

func (n planByName) decide() (decision, *Error) {
	s := n.search
	if refused := s.findClass(); refused != nil {
		return decision{}, refused
	}
	live, gone := split(s.plans.items, n.fits, s.live)
	switch value := s.req.Plan.Value; {
	case live.n == 0 && gone.n == 0:
		return decision{}, n.notFound()
	case live.n == 0:
		return decision{}, unusable(s.planField(), value, s.list(n.fits, s.goneFate))
	case live.n > 1:
		return decision{}, &Error{Reason: Ambiguous, Field: s.planField(), Value: value, Candidates: s.list(s.liveAnd(n.fits), fixed("named so")),
			Detail: fmt.Sprintf("%d plans of the class have it", live.n)}
	case !s.agrees(live.first):
		return decision{}, s.typeMismatch(s.list(is(live.first), s.typeFate))
	}
	return decision{live.first, RuleNamed}, nil
}

func (n planByName) fits(p *PlanEntry) bool {
	return n.search.considered(p) && n.search.req.Plan.Fits(p.Name, p.ExternalName, p.ExternalID)
}

// notFound tells a plan that is of another class from one that is not there. Only a Kubernetes name can tell: plans of
// different classes are often called alike, and the one meant may still come.
func (n planByName) notFound() *Error {
	s := n.search
	field, value := s.planField(), s.req.Plan.Value
	if s.req.Plan.By == ByName {
		if p := s.plans.get(Ref{Namespace: s.scope(), Name: value}); p != nil {
			return &Error{Reason: ClassMismatch, Field: field, Value: value,
				Detail:     "the plan is of another class: name a plan of this class, or the plan's own class",
				Candidates: s.list(is(p), fixed("of another class"))}
		}
	}
	return &Error{Reason: PlanNotFound, Field: field, Value: value, Detail: "the class has no such plan"}
}

func (planByName) fate(*PlanEntry, decision) string { return "not named" }

func (planByName) tiers() []Rule { return []Rule{RuleNamed} }

func (n planByName) claims(p *PlanEntry, _ Rule) bool { return n.fits(p) }
