package complete

import (
	"context"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/resolve"
)

// Plans proposes plans, as CLASS/PLAN where the plan's name alone is not enough,
// or those of the class that the flag --class names.
func Plans(env *cli.Env) Func {
	return of(env, func(ctx context.Context, s *search) error {
		if class := s.flag("class"); class != "" {
			return s.plansOf(ctx, class, "")
		}
		if class, is := within(s.typed); is {
			return s.plansOf(ctx, class, class+"/")
		}
		return s.plans(ctx)
	})
}

// plansOf proposes the plans of a class, each with a prefix before its name.
func (s *search) plansOf(ctx context.Context, class, prefix string) error {
	kubeName := s.flag("kube-name") == "true"
	of, err := catalog.Finder{Reader: s.reader, Scope: s.scope, KubeName: kubeName && prefix == ""}.Class(ctx, class)
	if err != nil {
		return err
	}
	plans, err := catalog.PlansOf(ctx, s.reader, of)
	if err != nil {
		return err
	}
	for _, plan := range plans {
		s.add(prefix+s.called(plan.Object, plan.Title()), plan.Spec.Description)
	}
	return nil
}

// plans proposes all plans.
func (s *search) plans(ctx context.Context) error {
	classes := map[resolve.Ref]string{}
	err := catalog.Classes(ctx, s.reader, catalog.Query{Scope: s.scope}, func(c catalog.Class) error {
		classes[catalog.RefOf(c.Object)] = c.Title()
		return nil
	})
	if err != nil {
		return err
	}
	var all []candidate
	err = catalog.Plans(ctx, s.reader, catalog.Query{Scope: s.scope}, func(p catalog.Plan) error {
		class := classes[resolve.Ref{Namespace: p.Object.GetNamespace(), Name: p.ClassName}]
		all = append(all, candidate{class, s.called(p.Object, p.Title()), p.Spec.Description})
		return nil
	})
	for word, description := range told(all) {
		s.add(word, description)
	}
	return err
}

// A candidate is a plan that may be proposed.
type candidate struct{ class, plan, description string }

// told are the words for plans: the plan's name, or CLASS/PLAN where plans of
// several classes have it.
func told(plans []candidate) map[string]string {
	of := map[string]map[string]bool{}
	for _, p := range plans {
		if of[p.plan] == nil {
			of[p.plan] = map[string]bool{}
		}
		of[p.plan][p.class] = true
	}
	words := map[string]string{}
	for _, p := range plans {
		word := p.plan
		if len(of[p.plan]) > 1 && p.class != "" {
			word = p.class + "/" + p.plan
		}
		if _, known := words[word]; !known {
			words[word] = p.description
		}
	}
	return words
}
