package explain

import (
	"cmp"
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/resolve"
)

// Types explains every type that plans have which an instance in the namespace could
// get, and every type that has a record, sorted by name. It goes by the rules and by the
// policies; admission itself is asked by Type only. denied are the lists that the user
// may not read, nil if none: what is told goes by the others.
func (a *Asker) Types(ctx context.Context, namespace string) (told []Explanation, denied, err error) {
	g := gatherer{a.reader, newSlice()}
	var refusals []error
	jobs := g.rulesOf(namespace)
	lists := g.everything(namespace)
	for _, at := range scopes(namespace) {
		lists = append(lists, func(ctx context.Context) error {
			return catalog.Types(ctx, g.reader, catalog.Query{Scope: at}, g.addType)
		})
	}
	for _, list := range lists {
		jobs = append(jobs, func(ctx context.Context) error {
			err := list(ctx)
			if !apierrors.IsForbidden(err) {
				return err
			}
			g.mu.Lock()
			defer g.mu.Unlock()
			refusals = append(refusals, err)
			return nil
		})
	}
	if err := together(ctx, jobs...); err != nil {
		return nil, nil, err
	}
	for name, part := range g.byType() {
		told = append(told, a.explainer().overview(namespace, name, part))
	}
	slices.SortFunc(told, func(a, b Explanation) int { return cmp.Compare(a.Subject.Name, b.Subject.Name) })
	slices.SortFunc(refusals, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return told, errors.Join(refusals...), nil
}

// overview explains a type in the part of a catalog that is about it.
func (x *explainer) overview(namespace, name string, part *slice) Explanation {
	teller := newTeller(&resolve.Request{Namespace: namespace, Type: name}, part, x.options.Gates)
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
			into.classes[refOf(class.Object)] = class
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
