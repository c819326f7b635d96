package resolve

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// planBySelector is rule 3: of the plans that the selector matches and no policy denies, the heaviest; of equals the one
// that the hash favours.
type planBySelector struct {
	search   *search
	selector labels.Selector // as parsed
	seen     layered         // the labels that the selector is looking at
}

func (b *planBySelector) decide() (decision, *Error) {
	s := b.search
	if refused := b.parse(); refused != nil {
		return decision{}, refused
	}
	if s.req.Class.Value != "" {
		if refused := s.findClass(); refused != nil {
			return decision{}, refused
		}
	}
	var best *PlanEntry
	for i := range s.plans.items {
		p := &s.plans.items[i]
		if !s.eligible(p) || p.Denied != "" || !b.matches(p) {
			continue
		}
		if best == nil || beats(s.req.Seed, p, best) {
			best = p
		}
	}
	if best == nil {
		return decision{}, b.nothingMatches()
	}
	return decision{best, RuleSelector}, nil
}

func (b *planBySelector) parse() *Error {
	sel := b.search.req.Selector
	if refused := checkSize(sel); refused != nil {
		return refused
	}
	parsed, err := metav1.LabelSelectorAsSelector(sel)
	if err != nil {
		return &Error{Reason: InvalidSelector, Field: selectorField, Detail: selectorFault(sel, err)}
	}
	b.selector = parsed
	return nil
}

// matches says that the selector matches the plan's labels over those of its class.
func (b *planBySelector) matches(p *PlanEntry) bool {
	b.seen = layered{over: p.Labels}
	if c := b.search.classOf(p); c != nil {
		b.seen.under = c.Labels
	}
	return b.selector.Matches(&b.seen)
}

func (b *planBySelector) nothingMatches() *Error {
	s := b.search
	if s.class != nil && s.req.Type != "" && s.count(s.eligible) == 0 {
		return s.nothingInClass()
	}
	return &Error{Reason: NoMatch, Field: selectorField, Value: metav1.FormatLabelSelector(s.req.Selector),
		Detail: "no plan that can be chosen has these labels" + nearLabel(b.selector, s)}
}

func (b *planBySelector) fate(p *PlanEntry, made decision) string {
	switch {
	case !b.matches(p):
		return "not matched"
	case p.Denied != "":
		return "denied by policy " + p.Denied
	case made.plan != nil && p.Weight < made.plan.Weight:
		return fmt.Sprintf("outranked by weight %d", made.plan.Weight)
	}
	return "the loser of a tie"
}

func (*planBySelector) tiers() []Rule { return []Rule{RuleSelector} }

func (b *planBySelector) claims(p *PlanEntry, _ Rule) bool { return b.search.agrees(p) && b.matches(p) }

// layered is two sets of labels as one. It has a place of its own in planBySelector, so that looking at a plan
// copies and allocates nothing.
type layered struct {
	over, under labels.Set
}

// Lookup returns the value of a label, and whether it is there.
func (l *layered) Lookup(label string) (string, bool) {
	if value, ok := l.over[label]; ok {
		return value, true
	}
	value, ok := l.under[label]
	return value, ok
}

// Has says that the label is there.
func (l *layered) Has(label string) bool {
	_, ok := l.Lookup(label)
	return ok
}

// Get returns the value of a label, empty where it is not there.
func (l *layered) Get(label string) string {
	value, _ := l.Lookup(label)
	return value
}
