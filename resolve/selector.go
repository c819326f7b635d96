package resolve

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
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
		Detail: "no plan that can be chosen has these labels" + r.nearLabel(), Candidates: r.list(r.considered, r.fate)})
}

const (
	// maxNearValues is how many values of a label a refusal names.
	maxNearValues = 3
	// maxFolded is up to how many wanted values these are looked at for their case.
	maxFolded = 8
	// maxLooked is how many labels are looked at for a hint: what an object may have of them, only its size bounds.
	maxLooked = 50_000
)

// A missing is a label that a selector asks for.
type missing struct {
	key string
	// near is the first label by name that differs from it in its prefix and in case only, such as that of an
	// attribute; known says that a plan has the label itself.
	near  string
	known bool
	// wanted are the values that would do; empty: any. met says that a plan has one. found are the first values that
	// plans have instead, one more than is told.
	wanted []string
	met    bool
	found  []string
}

// see notes a value that a plan has of the label.
func (m *missing) see(value string) {
	m.known = true
	m.met = m.met || len(m.wanted) == 0 || slices.Contains(m.wanted, value)
	if m.met {
		return
	}
	if at, is := slices.BinarySearchFunc(m.found, value, m.compareValues); !is {
		m.found = slices.Insert(m.found, at, value)
		m.found = m.found[:min(len(m.found), maxNearValues+1)]
	}
}

// compareValues orders values by name, those first that differ from a wanted one in case only.
func (m *missing) compareValues(a, b string) int {
	far := func(value string) int {
		if len(m.wanted) > maxFolded || slices.ContainsFunc(m.wanted, func(wanted string) bool { return strings.EqualFold(wanted, value) }) {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(far(a), far(b)), cmp.Compare(a, b))
}

// hint continues a refusal; empty: nothing is known that was meant instead.
func (m *missing) hint() string {
	switch {
	case !m.known && m.near != "":
		return fmt.Sprintf("; none has a label %q: did you mean %q?", m.key, m.near)
	case !m.known || m.met:
		return ""
	}
	var values strings.Builder
	for i, value := range m.found {
		if i == maxNearValues {
			values.WriteString(", …")
			break
		}
		if i > 0 {
			values.WriteString(", ")
		}
		fmt.Fprintf(&values, "%q", value)
	}
	return fmt.Sprintf("; of the label %q there is %s", m.key, values.String())
}

// nearLabel asks whether another label, or another of its values, was meant by the first that the selector asks for and
// no plan has; empty: none is near.
func (r *round) nearLabel() string {
	var all []*missing
	byName := map[string][]*missing{}
	requirements, _ := r.selector.Requirements()
	for i := range requirements {
		if op := requirements[i].Operator(); op != selection.NotIn && op != selection.DoesNotExist {
			wanted := &missing{key: requirements[i].Key(), wanted: requirements[i].ValuesUnsorted()}
			all, byName[bareName(wanted.key)] = append(all, wanted), append(byName[bareName(wanted.key)], wanted)
		}
	}
	whole := r.eachLabel(func(label, value string) {
		for _, wanted := range byName[bareName(label)] {
			switch {
			case label == wanted.key:
				wanted.see(value)
			case wanted.near == "" || label < wanted.near:
				wanted.near = label
			}
		}
	})
	for _, wanted := range all {
		if hint := wanted.hint(); whole && hint != "" {
			return hint
		}
	}
	return ""
}

// eachLabel visits the labels of the plans that are considered, and of each of their classes once. It says whether these
// are all: it ends after maxLooked.
func (r *round) eachLabel(visit func(label, value string)) bool {
	looked, classes := 0, map[Ref]bool{}
	all := func(set labels.Set) bool {
		for label, value := range set {
			if looked++; looked > maxLooked {
				return false
			}
			visit(label, value)
		}
		return true
	}
	for i := range r.plans.items {
		p := &r.plans.items[i]
		if !r.considered(p) {
			continue
		}
		if !all(p.Labels) {
			return false
		}
		if c := r.classOf(p); c != nil && !classes[c.Ref] {
			classes[c.Ref] = true
			if !all(c.Labels) {
				return false
			}
		}
	}
	return true
}

// bareName is the name of a label in lower case, without its prefix.
func bareName(label string) string {
	return strings.ToLower(label[strings.LastIndexByte(label, '/')+1:])
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
