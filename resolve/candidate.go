package resolve

import (
	"cmp"
	"slices"
	"strings"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A Candidate is a plan, or a class where a name fits several, that a request could have meant.
type Candidate struct {
	// Title is how to print the candidate: by its external names and scope, as in "azure-mysql/premium-p1 (cluster)",
	// and by its Kubernetes name too where two of a list would read alike.
	Title string
	// Plan is empty where the candidate is a class.
	Plan  Ref
	Class Ref
	// PlanName and ClassName are the external names; the Kubernetes names where there are none.
	PlanName  string
	ClassName string
	// Type is the effective type.
	Type string
	// Usable says that the candidate is live and denied by no policy: naming it, or making it the default, helps.
	Usable bool
	// Fate says what became of the candidate, in a few lower-case words such as "chosen" or "outranked by weight 10".
	Fate string
}

// Scope returns the candidate's scope as svcat shows it: "cluster", or "ns (dev)".
func (c Candidate) Scope() string {
	return v1beta1.PerScope(c.Class.Namespace, "cluster", "ns ("+c.Class.Namespace+")")
}

func (e *entries) goneFate(p *PlanEntry) string { return "gone: " + e.whyGone(p) }

func (e *entries) typeFate(p *PlanEntry) string { return "of type " + e.typeOf(p) }

// fixed gives every candidate of a list the same fate.
func fixed(fate string) func(*PlanEntry) string {
	return func(*PlanEntry) string { return fate }
}

// is wants one plan.
func is(one *PlanEntry) func(*PlanEntry) bool {
	return func(p *PlanEntry) bool { return p == one }
}

// list returns the wanted plans as sorted candidates.
func (e *entries) list(wanted func(*PlanEntry) bool, fate func(*PlanEntry) string) []Candidate {
	var out []Candidate
	for i := range e.plans.items {
		if p := &e.plans.items[i]; wanted(p) {
			out = append(out, e.candidate(p, fate(p)))
		}
	}
	return entitle(out)
}

func (e *entries) candidate(p *PlanEntry, fate string) Candidate {
	out := Candidate{
		Plan:      p.Ref,
		Class:     Ref{Namespace: p.Namespace, Name: p.Class},
		PlanName:  display(p.ExternalName, p.Name),
		ClassName: p.Class,
		Type:      e.typeOf(p),
		Usable:    e.live(p) && p.Denied == "",
		Fate:      fate,
	}
	if c := e.classOf(p); c != nil {
		out.ClassName = display(c.ExternalName, c.Name)
	}
	return out
}

func display(externalName, name string) string {
	if externalName != "" {
		return externalName
	}
	return name
}

// Titled returns the candidates in their order, each with its title, so that
// plans listed outside of a choice look the same.
func Titled(list []Candidate) []Candidate { return entitle(list) }

// entitle sorts the candidates and titles them, adding the Kubernetes name to those that would read alike.
func entitle(list []Candidate) []Candidate {
	slices.SortFunc(list, func(a, b Candidate) int {
		return cmp.Or(
			strings.Compare(a.ClassName, b.ClassName),
			strings.Compare(a.PlanName, b.PlanName),
			compareRefs(a.Class, b.Class),
			compareRefs(a.Plan, b.Plan),
		)
	})
	alike := func(i, j int) bool {
		return j >= 0 && j < len(list) && list[i].ClassName == list[j].ClassName && list[i].PlanName == list[j].PlanName &&
			list[i].Class.Namespace == list[j].Class.Namespace
	}
	for i := range list {
		list[i].Title = list[i].title(alike(i, i-1) || alike(i, i+1))
	}
	return list
}

func (c Candidate) title(alike bool) string {
	title, name := c.ClassName, c.Class.Name
	if c.Plan.Name != "" {
		title, name = c.ClassName+"/"+c.PlanName, c.Plan.Name
	}
	if alike {
		return title + " (" + c.Scope() + ", name " + name + ")"
	}
	return title + " (" + c.Scope() + ")"
}

func compareRefs(a, b Ref) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}
