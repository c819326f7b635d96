package resolve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// fate says what became of a plan that the request could have meant.
func (r *round) fate(p *PlanEntry) string {
	switch {
	case p == r.chosen:
		return "chosen"
	case !r.live(p):
		return r.goneFate(p)
	case !r.agrees(p):
		return r.typeFate(p)
	case r.req.Plan.Value != "":
		return "not named"
	case r.selector != nil:
		return r.selectorFate(p)
	}
	return r.defaultFate(p)
}

func (r *round) selectorFate(p *PlanEntry) string {
	switch {
	case !r.matches(p):
		return "not matched"
	case p.Denied != "":
		return "denied by policy " + p.Denied
	case r.chosen != nil && p.Weight < r.chosen.Weight:
		return fmt.Sprintf("outranked by weight %d", r.chosen.Weight)
	}
	return "the loser of a tie"
}

func (r *round) defaultFate(p *PlanEntry) string {
	isDefault := r.isDefault(p)
	switch {
	case p.Default && !isDefault:
		return "annotated as the default, but another is recorded"
	case r.chosen != nil && !isDefault && p.Suggested && !r.rule.suggests():
		return "only suggested"
	case r.chosen != nil && (isDefault || p.Suggested):
		return "outranked by " + string(r.rule)
	case r.chosen != nil && r.rule.suggests():
		return "not suggested"
	}
	return "not the default"
}

func (r *round) goneFate(p *PlanEntry) string { return "gone: " + r.whyGone(p) }

func (r *round) typeFate(p *PlanEntry) string {
	return "of type " + r.typeOf(p)
}

// fixed gives every candidate of a list the same fate.
func fixed(fate string) func(*PlanEntry) string {
	return func(*PlanEntry) string { return fate }
}

func (r *round) agreeing(p *PlanEntry) bool { return r.considered(p) && r.agrees(p) }

func (r *round) liveAnd(wanted func(*PlanEntry) bool) func(*PlanEntry) bool {
	return func(p *PlanEntry) bool { return r.live(p) && wanted(p) }
}

func (*round) is(one *PlanEntry) func(*PlanEntry) bool {
	return func(p *PlanEntry) bool { return p == one }
}

// list returns the wanted plans as sorted candidates.
func (r *round) list(wanted func(*PlanEntry) bool, fate func(*PlanEntry) string) []Candidate {
	var out []Candidate
	for i := range r.plans.items {
		if p := &r.plans.items[i]; wanted(p) {
			out = append(out, r.candidate(p, fate(p)))
		}
	}
	return entitle(out)
}

// classList returns the classes that the request's name fits as sorted candidates, those that are live or those that
// are not.
func (r *round) classList(live bool) []Candidate {
	var out []Candidate
	for i := range r.classes.items {
		c := &r.classes.items[i]
		if !r.classFits(c) || live != (c.Gone == "") {
			continue
		}
		fate := "named so"
		if !live {
			fate = "gone: " + c.Gone
		}
		out = append(out, Candidate{Class: c.Ref, ClassName: display(c.ExternalName, c.Name), Type: c.Type, Usable: live, Fate: fate})
	}
	return entitle(out)
}

func (r *round) candidate(p *PlanEntry, fate string) Candidate {
	out := Candidate{
		Plan:      p.Ref,
		Class:     Ref{Namespace: p.Namespace, Name: p.Class},
		PlanName:  display(p.ExternalName, p.Name),
		ClassName: p.Class,
		Type:      r.typeOf(p),
		Usable:    r.live(p) && p.Denied == "",
		Fate:      fate,
	}
	if c := r.classOf(p); c != nil {
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
