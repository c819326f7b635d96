package resolve

import "fmt"

// fits says that an entry with these names is the named one.
func (n Named) fits(name, externalName, externalID string) bool {
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

// byName is rule 1: class and plan are named.
func (r *round) byName() error {
	if err := r.findClass(); err != nil {
		return err
	}
	live, gone := split(r.plans.items, r.planFits, r.live)
	if live.n == 0 && gone.n == 0 {
		return r.planNotFound()
	}
	if live.n == 0 {
		return r.unusable(r.planField(), r.req.Plan.Value, r.list(r.planFits, r.goneFate))
	}
	if live.n > 1 {
		contenders := r.list(r.liveAnd(r.planFits), fixed("named so"))
		return r.fail(Error{Reason: Ambiguous, Field: r.planField(), Value: r.req.Plan.Value, Candidates: contenders,
			Detail: fmt.Sprintf("%d plans of the class have it", live.n)})
	}
	if !r.agrees(live.first) {
		return r.typeMismatch(r.list(r.is(live.first), r.typeFate))
	}
	r.choose(live.first, RuleNamed)
	return nil
}

// findClass sets r.class to the named class.
func (r *round) findClass() error {
	live, gone := split(r.classes.items, r.classFits, func(c *ClassEntry) bool { return c.Gone == "" })
	field, value := r.classField(), r.req.Class.Value
	switch {
	case live.n == 1:
		r.class = live.first
		return nil
	case live.n > 1:
		return r.fail(Error{Reason: Ambiguous, Field: field, Value: value, Candidates: r.classList(true),
			Detail: fmt.Sprintf("%d classes have it", live.n)})
	case gone.n > 0:
		return r.unusable(field, value, r.classList(false))
	}
	return r.fail(Error{Reason: ClassNotFound, Field: field, Value: value, Detail: "there is no such class " + r.place()})
}

func (r *round) classFits(c *ClassEntry) bool {
	return c.Namespace == r.scope() && r.req.Class.fits(c.Name, c.ExternalName, c.ExternalID)
}

func (r *round) planFits(p *PlanEntry) bool {
	return r.considered(p) && r.req.Plan.fits(p.Name, p.ExternalName, p.ExternalID)
}

// planNotFound tells a plan that is of another class from one that is not there. Only a Kubernetes name can tell:
// plans of different classes are often called alike, and the one meant may still come.
func (r *round) planNotFound() error {
	field, value := r.planField(), r.req.Plan.Value
	if r.req.Plan.By == ByName {
		if p := r.plans.get(Ref{Namespace: r.scope(), Name: value}); p != nil {
			return r.fail(Error{Reason: ClassMismatch, Field: field, Value: value,
				Detail:     "the plan is of another class: name a plan of this class, or the plan's own class",
				Candidates: r.list(r.is(p), fixed("of another class"))})
		}
	}
	return r.fail(Error{Reason: PlanNotFound, Field: field, Value: value,
		Detail: "the class has no such plan", Candidates: r.list(r.considered, r.fate)})
}
