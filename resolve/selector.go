package resolve

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// bySelector is rule 3: of the plans that the selector matches and no policy denies, the heaviest; of equals the one
// that the hash favours.
func (r *round) bySelector() error {
	if err := r.parseSelector(); err != nil {
		return err
	}
	if r.req.Class.Value != "" {
		if err := r.findClass(); err != nil {
			return err
		}
	}
	var best *PlanEntry
	for i := range r.plans.items {
		p := &r.plans.items[i]
		if !r.agreeing(p) || !r.live(p) || p.Denied != "" || !r.matches(p) {
			continue
		}
		if best == nil || r.beats(p, best) {
			best = p
		}
	}
	if best == nil {
		return r.nothingMatches()
	}
	r.choose(best, RuleSelector)
	return nil
}

// A selector has at most MaxRequirements labels and expressions, and in these at most MaxValues values: each is held
// against every plan of the catalog, while its author waits and others do.
const (
	MaxRequirements = 64
	MaxValues       = 256
)

func (r *round) parseSelector() error {
	sel := r.req.Selector
	if err := checkSize(sel); err != nil {
		return err
	}
	parsed, err := metav1.LabelSelectorAsSelector(sel)
	if err != nil {
		return &Error{Reason: InvalidSelector, Field: selectorField, Detail: selectorFault(sel, err)}
	}
	r.selector = parsed
	return nil
}

// checkSize refuses a selector that holds nothing, or too much.
func checkSize(sel *metav1.LabelSelector) error {
	requirements, values := len(sel.MatchLabels)+len(sel.MatchExpressions), 0
	for i := range sel.MatchExpressions {
		values += len(sel.MatchExpressions[i].Values)
	}
	invalid := func(detail string, args ...any) error {
		return &Error{Reason: InvalidSelector, Field: selectorField, Detail: fmt.Sprintf(detail, args...)}
	}
	switch {
	case requirements == 0:
		return invalid("it is empty: give matchLabels or matchExpressions, or leave planSelector out")
	case requirements > MaxRequirements:
		return invalid("it has %d labels and expressions; at most %d are allowed", requirements, MaxRequirements)
	case values > MaxValues:
		return invalid("its expressions have %d values; at most %d are allowed", values, MaxValues)
	}
	return nil
}

// selectorFault returns the first fault in the order of keys: the parser meets them in that of a map, and a message
// must not flap.
func selectorFault(sel *metav1.LabelSelector, err error) string {
	parts := make([]metav1.LabelSelector, 0, len(sel.MatchLabels)+len(sel.MatchExpressions))
	for _, key := range slices.Sorted(maps.Keys(sel.MatchLabels)) {
		parts = append(parts, metav1.LabelSelector{MatchLabels: map[string]string{key: sel.MatchLabels[key]}})
	}
	for _, e := range sel.MatchExpressions {
		parts = append(parts, metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{e}})
	}
	for i := range parts {
		if _, first := metav1.LabelSelectorAsSelector(&parts[i]); first != nil {
			err = first
			break
		}
	}
	return bounded(err.Error())
}

// bounded cuts what the parser says: it repeats labels that no schema has bounded yet.
func bounded(text string) string {
	const limit = 512
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

func (r *round) nothingMatches() error {
	if r.class != nil && r.req.Type != "" && len(r.list(r.liveAnd(r.agreeing), r.fate)) == 0 {
		return r.nothingInClass()
	}
	return r.fail(Error{Reason: NoMatch, Field: selectorField, Value: metav1.FormatLabelSelector(r.req.Selector),
		Detail: "no plan that can be chosen has these labels", Candidates: r.list(r.considered, r.fate)})
}

// matches says that the selector matches the plan's labels over those of its class.
func (r *round) matches(p *PlanEntry) bool {
	r.seen = layered{over: p.Labels}
	if c := r.classOf(p); c != nil {
		r.seen.under = c.Labels
	}
	return r.selector.Matches(&r.seen)
}

// layered is two sets of labels as one. It has a round's own place, so that looking at a plan copies and allocates
// nothing.
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

// beats says that p goes before q: by weight, and between equals by rendezvous hash, which spreads requests evenly
// over the plans and, when a plan comes or goes, moves only those that it wins or held.
func (r *round) beats(p, q *PlanEntry) bool {
	if p.Weight != q.Weight {
		return p.Weight > q.Weight
	}
	sp, sq := score(r.req.Seed, p), score(r.req.Seed, q)
	if sp != sq {
		return sp > sq
	}
	return compareRefs(p.Ref, q.Ref) < 0
}

// score is the weight of a plan in the eyes of one seed: FNV-1a over both, then mixed, because FNV alone leaves the
// high bits of short inputs alike. It must never change: the same request would get another plan on its retry from a
// newer replica.
func score(seed string, p *PlanEntry) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	// A separator that no name or UID contains keeps ("ab", "c") and ("a", "bc") apart.
	for _, part := range [...]string{seed, "\x00", p.UID} {
		for i := range len(part) {
			h = (h ^ uint64(part[i])) * prime
		}
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
