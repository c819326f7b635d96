package resolve

import (
	"fmt"
	"slices"
)

// notes tells of defaults that are not as they seem: annotated but not recorded, or recorded but not believed.
// Neither stops a choice.
func (r *round) notes() []string {
	var out []string
	for i := range r.plans.items {
		p := &r.plans.items[i]
		if p.Default && r.agreeing(p) && r.live(p) && !r.isDefault(p) {
			out = append(out, fmt.Sprintf("plan %s is annotated as the default of type %q, but another is recorded",
				r.candidate(p, "").title(true), r.typeOf(p)))
		}
	}
	typ := r.typeOf(r.chosen)
	for _, scope := range [...]string{r.req.Namespace, ""} {
		if note := r.disbelief(typ, scope); note != "" {
			out = append(out, note)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// disbelief says why the type's record in the scope, if there is one, is not believed.
func (r *round) disbelief(typ, scope string) string {
	rec := r.records.get(Ref{Namespace: scope, Name: typ})
	if rec == nil || rec.Plan.Name == "" || typ == "" || r.believed(typ, scope) != nil {
		return ""
	}
	if r.class != nil && r.class.Namespace != scope {
		return ""
	}
	return fmt.Sprintf("the default of type %q that is recorded %s, plan %q, %s: annotations decide",
		typ, placeName(scope), rec.Plan.Name, r.whyDisbelieved(rec))
}

// whyDisbelieved says of the plan that a record names why the record is not believed, as in "is being deleted"; empty
// where it is, and where it names none.
func (r *round) whyDisbelieved(rec *Record) string {
	if rec.Plan.Name == "" || r.believed(rec.Type, rec.Plan.Namespace) != nil {
		return ""
	}
	p := r.plans.get(rec.Plan)
	if p == nil {
		return "does not exist"
	}
	if gone := r.whyGone(p); gone != "" {
		return "is " + gone
	}
	return "is of another type"
}
