package explain

import (
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/resolve"
)

// overview explains a type in the part of a catalog that is about it.
func (x chooser) overview(namespace, name string, part *slice) Explanation {
	teller := newTeller(&resolve.Request{Namespace: namespace, Type: name}, part, x.gates)
	told := Explanation{
		Subject: Subject{Kind: KindType, Namespace: namespace, Name: name}, Asks: map[string]string{"serviceType": name},
		Now: teller.tell(), Notes: part.notes,
	}
	switch refused := teller.account.Refused; {
	case refused != nil:
		told.Now.Refusal = &Refusal{Reason: string(refused.Reason), Message: refused.Error()}
	case told.Now.Policy != nil:
		told.Now.Verdict = Refused
	}
	return told
}

// byType parts a slice by the types of its plans and records. A plan that a record
// names is in the record's part too, whatever its own type is.
func (s *slice) byType() map[string]*slice {
	parts := map[string]*slice{}
	part := func(name string) *slice {
		if parts[name] == nil {
			parts[name] = newSlice()
			parts[name].policies, parts[name].rules, parts[name].namespace, parts[name].notes = s.policies, s.rules, s.namespace, s.notes
		}
		return parts[name]
	}
	put := func(name string, ref resolve.Ref) {
		into, plan := part(name), s.plans[ref]
		into.plans[ref] = plan
		if class, ok := s.class(plan); ok {
			into.classes[catalog.RefOf(class.Object)] = class
		}
	}
	for ref, plan := range s.plans {
		class, ok := s.class(plan)
		name := plan.Spec.ServiceType
		if name == "" && ok {
			name = class.Spec.ServiceType
		}
		if name != "" {
			put(name, ref)
		}
	}
	for ref, recorded := range s.types {
		part(ref.Name).types[ref] = recorded
		if plan := recorded.Record().Plan; s.plans[plan].Object != nil {
			put(ref.Name, plan)
		}
	}
	return parts
}
