package resolve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

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
func nearLabel(selector labels.Selector, s *search) string {
	var all []*missing
	byName := map[string][]*missing{}
	requirements, _ := selector.Requirements()
	for i := range requirements {
		if op := requirements[i].Operator(); op != selection.NotIn && op != selection.DoesNotExist {
			wanted := &missing{key: requirements[i].Key(), wanted: requirements[i].ValuesUnsorted()}
			all, byName[bareName(wanted.key)] = append(all, wanted), append(byName[bareName(wanted.key)], wanted)
		}
	}
	whole := s.eachLabel(func(label, value string) {
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
func (s *search) eachLabel(visit func(label, value string)) bool {
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
	for i := range s.plans.items {
		p := &s.plans.items[i]
		if !s.considered(p) {
			continue
		}
		if !all(p.Labels) {
			return false
		}
		if c := s.classOf(p); c != nil && !classes[c.Ref] {
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
