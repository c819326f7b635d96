package policystatus

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/defaultplan/defaultplan/webhook/catalog"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

// A survey visits all objects once, in the order in which status names them,
// and evaluates for each only the policies that may select it. It holds the
// objects of one class name at a time, so that a large catalog is not in memory
// twice.
type survey struct {
	reader  client.Reader
	reports []*report
	// all and binding find reports by the keys of their rules: of every policy,
	// and of those about bindings.
	all, binding map[string][]*report
	// counted is how many were counted.
	counted int
	// rules are those of all reports.
	rules []policy.Rule
	// places are the namespaces, in order.
	places []policy.Place
}

func newSurvey(reader client.Reader, reports []*report) *survey {
	s := &survey{reader: reader, reports: reports, all: map[string][]*report{}, binding: map[string][]*report{}}
	for _, r := range reports {
		s.rules = append(s.rules, r.rule)
		for _, k := range r.rule.Keys() {
			s.all[k] = append(s.all[k], r)
			if r.aboutBindings() {
				s.binding[k] = append(s.binding[k], r)
			}
		}
	}
	return s
}

// selecting are the reports whose rules select the target.
func (s *survey) selecting(byKey map[string][]*report, target policy.Target) iter.Seq[*report] {
	s.counted++
	return func(yield func(*report) bool) {
		for _, k := range target.Keys() {
			for _, r := range byKey[k] {
				if r.counted == s.counted {
					continue
				}
				r.counted = s.counted
				if r.rule.Selects(target) && !yield(r) {
					return
				}
			}
		}
	}
}

// plans counts the live plans of both scopes.
func (s *survey) plans(ctx context.Context) error {
	classes, err := s.classes(ctx)
	if err != nil {
		return err
	}
	for len(classes) > 0 {
		// Classes of one name are listed together: their plans may read alike.
		n := 1
		for n < len(classes) && nameOf(&classes[n]) == nameOf(&classes[0]) {
			n++
		}
		if err := s.plansOf(ctx, classes[:n]); err != nil {
			return err
		}
		classes = classes[n:]
	}
	return nil
}

// classes are the live classes of both scopes, by the name that users see.
func (s *survey) classes(ctx context.Context) ([]resolve.ClassEntry, error) {
	all := catalog.Scope{Reader: s.reader}
	var cluster v1beta1.ClusterServiceClassList
	if err := all.List(ctx, &cluster, nil); err != nil {
		return nil, err
	}
	var local v1beta1.ServiceClassList
	if err := all.List(ctx, &local, nil); err != nil {
		return nil, err
	}
	classes := append(catalog.Entries(cluster.Items, resolve.ClassFrom), catalog.Entries(local.Items, resolve.ClassFrom)...)
	classes = slices.DeleteFunc(classes, func(c resolve.ClassEntry) bool { return c.Gone != "" })
	slices.SortFunc(classes, func(a, b resolve.ClassEntry) int { return strings.Compare(nameOf(&a), nameOf(&b)) })
	return classes, nil
}

func nameOf(class *resolve.ClassEntry) string { return cmp.Or(class.ExternalName, class.Name) }

// plansOf counts the live plans of classes that have one name.
func (s *survey) plansOf(ctx context.Context, classes []resolve.ClassEntry) error {
	var candidates []resolve.Candidate
	targets := map[resolve.Ref]policy.Target{}
	for i := range classes {
		plans, err := catalog.Scope{Reader: s.reader, Namespace: classes[i].Namespace}.PlansOf(ctx, classes[i].Name)
		if err != nil {
			return err
		}
		for j := range plans.Plans {
			if plan := &plans.Plans[j]; plan.Gone == "" {
				target := policy.TargetOf(classes[i], *plan)
				if err := catalog.Price(ctx, s.reader, s.rules, &target); err != nil {
					return err
				}
				targets[plan.Ref] = target
				candidates = append(candidates, resolve.Candidate{
					Plan: plan.Ref, PlanName: cmp.Or(plan.ExternalName, plan.Name), Class: classes[i].Ref, ClassName: nameOf(&classes[i]),
				})
			}
		}
	}
	for _, c := range resolve.Titled(candidates) {
		for r := range s.selecting(s.all, targets[c.Plan]) {
			r.plans.add(c.Title)
		}
	}
	return nil
}

// namespaces counts the namespaces that rules hold in.
func (s *survey) namespaces(ctx context.Context) error {
	var list corev1.NamespaceList
	if err := (catalog.Scope{Reader: s.reader}).List(ctx, &list, nil); err != nil {
		return err
	}
	s.places = catalog.Entries(list.Items, func(n *corev1.Namespace) policy.Place { return policy.Place{Namespace: n.Name, Labels: n.Labels} })
	slices.SortFunc(s.places, func(a, b policy.Place) int { return strings.Compare(a.Namespace, b.Namespace) })
	for _, r := range s.reports {
		if r.fault == nil && r.where != nil && r.where.Selector == nil {
			s.named(r)
			continue
		}
		for _, place := range s.places {
			if r.rule.Holds(place) {
				r.namespaces.add(place.Namespace)
			}
		}
	}
	return nil
}

// named counts the namespaces of a policy that only names them: few of many.
func (s *survey) named(r *report) {
	for _, name := range slices.Compact(slices.Sorted(slices.Values(r.where.Names))) {
		_, found := slices.BinarySearchFunc(s.places, name, func(p policy.Place, name string) int { return strings.Compare(p.Namespace, name) })
		if found {
			r.namespaces.add(name)
		}
	}
}
