package simulate_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A report is what svcat simulate prints as JSON, as programs read it.
type report struct {
	Changed []struct{ Kind, Namespace, Name string }
	Types   []struct {
		Type, Namespace string
		Now, Then       resolution
	}
	Instances []effect
	Limits    []struct {
		Policy, Namespace, Kind string
		Now, Then               struct {
			Granted int
			Limit   *int
		}
	}
	Refusals []struct {
		Kind, Namespace, Name, Message string
		Change                         bool
	}
	Bindings []effect
	Costs    struct {
		Namespaces []struct {
			Namespace string
			Now, Then sum
		}
	}
}

type sum struct {
	Costs   []struct{ Amount, Currency, Unit string }
	Unknown int
}

type resolution struct {
	Plan, Class, Refusal string
	Waits                bool
}

type effect struct{ Namespace, Name, What, Now, Then, Message string }

func (r *report) differences() int {
	return len(r.Types) + len(r.Instances) + len(r.Bindings) + len(r.Limits) + len(r.Refusals) + len(r.Costs.Namespaces)
}

// changeRefusals are what is said to refuse changes.
func (r *report) changeRefusals() []string {
	var all []string
	for _, one := range r.Refusals {
		if one.Change {
			all = append(all, one.Message)
		}
	}
	return all
}

func (r resolution) answer() answer {
	switch {
	case r.Plan != "":
		return answer{plan: r.Class + "/" + r.Plan}
	case r.Waits:
		return answer{}
	}
	return answer{refusal: r.Refusal}
}

// differences says what simulate said that is not so, and what is so that it did not say.
func (t *trial) differences() []string {
	return slices.Concat(t.wrongRefusals(), t.wrongTypes(), t.wrongObjects(), t.wrongLimits(), t.wrongCosts())
}

// wrongRefusals compares the refusals of changes with their texts.
func (t *trial) wrongRefusals() (wrong []string) {
	said := t.report.changeRefusals()
	if len(said) != len(t.refusals) {
		return []string{fmt.Sprintf("refused are %q, simulate said %q", t.refusals, said)}
	}
	for i := range said {
		if !strings.Contains(t.refusals[i], said[i]) {
			wrong = append(wrong, fmt.Sprintf("refused is %q, simulate said %q", t.refusals[i], said[i]))
		}
	}
	return wrong
}

// wrongTypes compares what types mean. What simulate says nothing of is the same as before.
func (t *trial) wrongTypes() (wrong []string) {
	for name, was := range t.before.types {
		now, then := was, was
		for _, one := range t.report.Types {
			if one.Type == name && one.Namespace == t.Namespace {
				now, then = one.Now.answer(), one.Then.answer()
			}
		}
		if now != was {
			wrong = append(wrong, fmt.Sprintf("type %s was %q, simulate said %q", name, was, now))
		}
		if is := t.after.types[name]; then != is {
			wrong = append(wrong, fmt.Sprintf("type %s is %q, simulate said %q", name, is, then))
		}
	}
	return wrong
}

// wrongObjects compares what became of instances and bindings, and of their next edits.
func (t *trial) wrongObjects() (wrong []string) {
	for _, name := range slices.Sorted(maps.Keys(t.after.objects)) {
		if said, is := t.said(name), t.happened(name); !slices.Equal(said, is) {
			wrong = append(wrong, fmt.Sprintf("of %s it is %q, simulate said %q", name, is, said))
		}
	}
	return wrong
}

// said is what simulate says of an object, as happened would.
func (t *trial) said(name string) (said []string) {
	for _, e := range t.effects(name) {
		switch e.What {
		case "Created", "WouldBeDecided", "Redecided":
			said = append(said, e.What+" "+e.Then)
		case "EditRefused":
			said = append(said, e.What+" "+e.Message)
		case "EditAllowed", "PlanGone", "PlanBack", "Edited", "Deleting", "Deleted":
			said = append(said, e.What)
		}
	}
	slices.Sort(said)
	return slices.Compact(said)
}

// effects are those that simulate says of an object.
func (t *trial) effects(name string) []effect {
	kind, name, _ := strings.Cut(name, " ")
	all := t.report.Instances
	if kind == "binding" {
		all = t.report.Bindings
	}
	return slices.DeleteFunc(slices.Clone(all), func(e effect) bool { return e.Name != name || e.Namespace != t.Namespace })
}

// happened is what became of an object.
func (t *trial) happened(name string) (happened []string) {
	was, had := t.before.objects[name]
	had = had && was.plan != gone
	is := t.after.objects[name]
	switch {
	case is.plan == gone && (had || was.leaving) && !is.leaving:
		return []string{"Deleted"}
	case is.plan == gone && had:
		return []string{"Deleting"}
	case is.plan == gone:
		return nil
	case !had:
		return []string{"Created " + is.plan}
	case is.plan == was.plan && is.lost && !was.lost:
		happened = append(happened, "PlanGone")
	case is.plan == was.plan && was.lost && !is.lost:
		happened = append(happened, "PlanBack")
	case is.plan == was.plan:
	case was.plan == "":
		happened = append(happened, "WouldBeDecided "+is.plan)
	default:
		happened = append(happened, "Redecided "+is.plan)
	}
	if is.plan == was.plan && is.generation != was.generation {
		happened = append(happened, "Edited")
	}
	before, after := was.edit, is.edit
	switch {
	case is.plan == "": // what waits is told as such
	case after.refusal != "" && after.refusal != before.refusal:
		happened = append(happened, "EditRefused "+after.refusal)
	case before.refusal != "" && after.refusal == "":
		happened = append(happened, "EditAllowed")
	case after.plan != before.plan && is.plan == was.plan:
		happened = append(happened, "Redecided "+after.plan)
	}
	slices.Sort(happened)
	return happened
}

// wrongLimits compares how limits are used.
func (t *trial) wrongLimits() (wrong []string) {
	names := maps.Clone(t.before.slots)
	maps.Copy(names, t.after.slots)
	for at := range names {
		now, then := t.before.slots[at], t.before.slots[at]
		for _, l := range t.report.Limits {
			if l.Policy == at.policy && l.Namespace == t.Namespace && l.Kind == at.kind.String() {
				now, then = usage(l.Now.Granted, l.Now.Limit), usage(l.Then.Granted, l.Then.Limit)
			}
		}
		if now != t.before.slots[at] {
			wrong = append(wrong, fmt.Sprintf("limit of %v by %s was %q, simulate said %q", at.kind, at.policy, t.before.slots[at], now))
		}
		if is := t.after.slots[at]; then != is {
			wrong = append(wrong, fmt.Sprintf("limit of %v by %s is %q, simulate said %q", at.kind, at.policy, is, then))
		}
	}
	return wrong
}

// wrongCosts compares what the instances of the namespace cost, and which objects have a slot.
func (t *trial) wrongCosts() (wrong []string) {
	was, is := t.before.sum(), t.after.sum()
	now, then := was, was
	for _, one := range t.report.Costs.Namespaces {
		if one.Namespace == t.Namespace {
			now, then = one.Now.String(), one.Then.String()
		}
	}
	if now != was || then != is {
		wrong = append(wrong, fmt.Sprintf("costs are %s and then %s, simulate said %s and then %s", was, is, now, then))
	}
	return append(wrong, t.wrongSlots()...)
}

// wrongSlots compares which objects have no slot. One that is Ready has one; one that is not Ready may lack
// one without saying so.
func (t *trial) wrongSlots() (wrong []string) {
	for name, one := range t.after.objects {
		effects := t.effects(name)
		says := func(what string) bool {
			return slices.ContainsFunc(effects, func(e effect) bool { return e.What == what })
		}
		was, had := t.before.objects[name]
		switch {
		case had && one.waits && !was.waits && !says("OverLimit"):
			wrong = append(wrong, fmt.Sprintf("%s waits for a slot, and simulate did not say so", name))
		case one.ready && says("OverLimit"):
			wrong = append(wrong, fmt.Sprintf("%s is Ready, and simulate said that it has no slot", name))
		case one.waits && says("WithinLimit"):
			wrong = append(wrong, fmt.Sprintf("%s waits for a slot, and simulate said that it has one", name))
		}
	}
	return wrong
}

func (o *observation) sum() string { return fmt.Sprintf("%d usd, %d unknown", o.costs, o.unpriced) }

func (s sum) String() string {
	amount := "0"
	for _, one := range s.Costs {
		amount = one.Amount
	}
	return fmt.Sprintf("%s usd, %d unknown", amount, s.Unknown)
}

// usage is how a limit is used; one that has granted nothing is as none.
func usage(granted int, limit *int) string {
	if limit == nil || granted == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", granted, *limit)
}
