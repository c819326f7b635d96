package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/defaultplan/defaultplan/resolve"
)

// headline is the subject, and what it gets.
func (e *Explanation) headline() string {
	var who string
	switch e.Subject.Kind {
	case KindType:
		who = e.Subject.Name + " in namespace " + e.Subject.Namespace
		if text := e.Now.needs(e.Subject.Namespace); text != "" {
			return who + " → " + text
		}
	case KindInstance:
		who = fmt.Sprintf("instance %s/%s (%s)", e.Subject.Namespace, e.Subject.Name, asked(e.Asks))
	default:
		who = fmt.Sprintf("binding %s/%s (%s)", e.Subject.Namespace, e.Subject.Name, asked(e.Asks))
	}
	if e.Then == nil {
		return who + " → " + e.Now.outcome(e.Subject.Namespace)
	}
	if e.Then.Plan == nil {
		return who + " → no plan yet"
	}
	return who + " → " + e.Then.Plan.titled()
}

// asked is what an object asks for, in words.
func asked(asks map[string]string) string {
	var words []string
	for _, field := range slices.SortedFunc(maps.Keys(asks), func(a, b string) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), strings.Compare(a, b))
	}) {
		words = append(words, word(field)+" "+asks[field])
	}
	if len(words) == 0 {
		return "asks for nothing"
	}
	return strings.Join(words, ", ")
}

// word is what a field of spec names, in a word.
func word(field string) string {
	return []string{"of", "class", "plan", "type", "selector", field}[order(field)]
}

func order(field string) int {
	switch {
	case field == "instanceRef":
		return 0
	case strings.Contains(field, "Class"):
		return 1
	case strings.Contains(field, "Plan"):
		return 2
	case field == "serviceType":
		return 3
	case field == "planSelector":
		return 4
	}
	return 5
}

// needs is the plan of a type whose instances have to say more than the type; empty
// where that is not so.
func (n *Now) needs(namespace string) string {
	if n.Verdict != Refused || n.Plan == nil || n.Policy != nil || n.Refusal == nil {
		return ""
	}
	why, _, _ := strings.Cut(n.Refusal.Message, "\n")
	return n.chosen(namespace) + ", and an instance that says no more than the type is refused: " + why
}

// chosen is the plan that the rules choose, and why; empty where there is none.
func (n *Now) chosen(namespace string) string {
	if n.Plan == nil {
		return ""
	}
	return n.Plan.titled() + " (" + reason(n.Rule, namespace, n.Plan) + n.basis() + ")"
}

// outcome is the plan and why, or why none.
func (n *Now) outcome(namespace string) string {
	plan := n.chosen(namespace)
	switch n.Verdict {
	case Decided:
		return plan
	case Waits:
		return "no plan yet: it waits"
	}
	if plan == "" {
		return "refused"
	}
	return "refused, though the choice is " + plan
}

// basis says what makes a default the default.
func (n *Now) basis() string {
	switch resolve.Rule(n.Rule) {
	case resolve.RuleNamespaceDefault, resolve.RuleClusterDefault, resolve.RuleClassDefault:
	default:
		return ""
	}
	if !n.Recorded {
		return ", by annotation"
	}
	for _, record := range n.Records {
		if record.Believed && record.Plan == n.Plan.Name && scopeName(record.Namespace) == n.Plan.Scope {
			return ", recorded in " + record.kindName()
		}
	}
	return ", recorded"
}

// kindName is the object that records.
func (r *Record) kindName() string {
	return r.Kind + " " + strings.TrimPrefix(r.Namespace+"/"+r.Type, "/")
}

// reason is a rule in words; plan may be nil.
func reason(rule, namespace string, plan *Plan) string {
	switch rule {
	case ruleInstance:
		return "the plan of its instance"
	case ruleRestored:
		return "it came with its references"
	}
	class := ""
	if plan != nil {
		class = plan.Class
	}
	return resolve.Rule(rule).Words(namespace, class)
}
