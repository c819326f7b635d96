package resolve

import (
	"fmt"
	"slices"
)

// notes describe defaults that are not as they seem: annotated but not recorded, or, of the chosen plan's type,
// recorded but not believed. Neither stops a choice.
func (s *search) notes(chosenType string) []string {
	var out []string
	for i := range s.plans.items {
		p := &s.plans.items[i]
		if p.Default && s.eligible(p) && !s.isDefault(p) {
			out = append(out, fmt.Sprintf("plan %s is annotated as the default of type %q, but another is recorded",
				s.candidate(p, "").title(true), s.typeOf(p)))
		}
	}
	own, cluster := s.scopes()
	if note := s.disbelief(chosenType, own); note != "" {
		out = append(out, note)
	}
	if note := s.disbelief(chosenType, cluster); own != cluster && note != "" {
		out = append(out, note)
	}
	slices.Sort(out)
	return out
}

// scopes are the namespaces of the records that the request goes by: its own, and the cluster's, which has no name. Both
// are the class's beside a named class.
func (s *search) scopes() (own, cluster string) {
	if s.class != nil {
		return s.class.Namespace, s.class.Namespace
	}
	return s.req.Namespace, ""
}

// disbelief says why the type's record in the scope, if there is one, is not believed.
func (s *search) disbelief(typ, scope string) string {
	rec := s.recordOf(typ, scope)
	if rec == nil || s.believed(typ, scope) != nil {
		return ""
	}
	return fmt.Sprintf("the default of type %q that is recorded %s, plan %q, %s: annotations decide",
		typ, InScope(scope), rec.Plan.Name, s.whyDisbelieved(rec))
}
