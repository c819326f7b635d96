package resolve

import "fmt"

// A search is a request held against a catalog: which of its plans the request could mean.
type search struct {
	entries

	req   Request
	class *ClassEntry // the named class, once found
}

// scope is where named classes and plans are looked up.
func (s *search) scope() string {
	if s.req.Namespaced {
		return s.req.Namespace
	}
	return ""
}

// visible says that the plan is the cluster's or of the request's namespace.
func (s *search) visible(p *PlanEntry) bool {
	return !p.Namespaced() || p.Namespace == s.req.Namespace
}

// agrees says that the plan is of the request's type. Beside a named class a type only describes, and a plan without
// one agrees with any.
func (s *search) agrees(p *PlanEntry) bool {
	if s.req.Type == "" {
		return true
	}
	t := s.typeOf(p)
	return t == s.req.Type || t == "" && s.req.Class.Value != ""
}

// considered says that the request could have meant the plan, were it live and the only one.
func (s *search) considered(p *PlanEntry) bool {
	if s.class != nil {
		return p.Namespace == s.class.Namespace && p.Class == s.class.Name
	}
	return s.visible(p) && s.agrees(p)
}

// eligible says that the plan is considered, of the request's type and live.
func (s *search) eligible(p *PlanEntry) bool {
	return s.considered(p) && s.agrees(p) && s.live(p)
}

// liveAnd narrows the wanted plans to live ones.
func (s *search) liveAnd(wanted func(*PlanEntry) bool) func(*PlanEntry) bool {
	return func(p *PlanEntry) bool { return s.live(p) && wanted(p) }
}

// count returns how many plans are wanted.
func (s *search) count(wanted func(*PlanEntry) bool) int {
	n := 0
	for i := range s.plans.items {
		if wanted(&s.plans.items[i]) {
			n++
		}
	}
	return n
}

// findClass sets the class to the named one.
func (s *search) findClass() *Error {
	live, gone := split(s.classes.items, s.classFits, func(c *ClassEntry) bool { return c.Gone == "" })
	if live.n == 1 {
		s.class = live.first
		return nil
	}
	field, value := s.classField(), s.req.Class.Value
	switch {
	case s.req.ClassDecided && gone.n > 0:
		return &Error{Reason: Unusable, Field: s.planField(), Value: s.req.Plan.Value, Candidates: s.listClasses(false),
			Detail: fmt.Sprintf("the class %q, which was decided, cannot be chosen any more", value)}
	case s.req.ClassDecided:
		return &Error{Reason: ClassNotFound, Field: s.planField(), Value: s.req.Plan.Value,
			Detail: fmt.Sprintf("the class %q, which was decided, does not exist %s", value, InScope(s.scope()))}
	case live.n > 1:
		return &Error{Reason: Ambiguous, Field: field, Value: value, Candidates: s.listClasses(true),
			Detail: fmt.Sprintf("%d classes have it", live.n)}
	case gone.n > 0:
		return unusable(field, value, s.listClasses(false))
	}
	return &Error{Reason: ClassNotFound, Field: field, Value: value, Detail: "there is no such class " + InScope(s.scope())}
}

func (s *search) classFits(c *ClassEntry) bool {
	return c.Namespace == s.scope() && s.req.Class.Fits(c.Name, c.ExternalName, c.ExternalID)
}

// listClasses returns the classes that the request's name fits as sorted candidates, those that are live or those that
// are not.
func (s *search) listClasses(live bool) []Candidate {
	var out []Candidate
	for i := range s.classes.items {
		c := &s.classes.items[i]
		if !s.classFits(c) || live != (c.Gone == "") {
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
