package explain

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/costs"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

// A slice is the part of a cluster that a question is about. It may be added to
// from several goroutines; it is read when they are done.
type slice struct {
	mu       sync.Mutex
	classes  map[resolve.Ref]catalog.Class
	plans    map[resolve.Ref]catalog.Plan
	types    map[resolve.Ref]catalog.Type
	policies []client.Object
	rules    []policy.Rule
	// prices are what plans cost, in words, and originals the plans of the cluster that policies
	// take the costs of others from.
	prices    map[resolve.Ref]string
	originals []catalog.Plan
	// namespace is nil where it is not there, or may not be read.
	namespace *corev1.Namespace
	notes     []string
}

func newSlice() *slice {
	return &slice{
		classes: map[resolve.Ref]catalog.Class{}, plans: map[resolve.Ref]catalog.Plan{}, types: map[resolve.Ref]catalog.Type{},
		prices: map[resolve.Ref]string{},
	}
}

// change changes the slice while no other goroutine does. It returns nil, as those that add to
// a slice do: they are called with each object of a list.
func (s *slice) change(change func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	return nil
}

func (s *slice) addClass(class catalog.Class) error {
	return s.change(func() { s.classes[catalog.RefOf(class.Object)] = class })
}

// addPlan takes a plan in without what is not read here: there may be thousands.
func (s *slice) addPlan(plan catalog.Plan) error {
	price := catalog.Price(&plan)
	plan.Object.SetManagedFields(nil)
	plan.Spec.ExternalMetadata = costs.Slim(plan.Spec.ExternalMetadata)
	ref := catalog.RefOf(plan.Object)
	return s.change(func() { s.plans[ref], s.prices[ref] = plan, price })
}

func (s *slice) addOriginal(plan catalog.Plan) error {
	plan.Object.SetManagedFields(nil)
	plan.Spec.ExternalMetadata = costs.Slim(plan.Spec.ExternalMetadata)
	return s.change(func() { s.originals = append(s.originals, plan) })
}

// price is what a plan costs, in words. Where a policy is about costs, that of a copy is its original's,
// and empty without one, as policies count it.
func (s *slice) price(ref resolve.Ref) string {
	if !policy.AboutCosts(s.rules) {
		return s.prices[ref]
	}
	plan := s.plans[ref]
	class, _ := s.class(plan)
	from := policy.TargetOf(classEntryOf(&class), plan.PlanEntry()).Original
	if from.ExternalID == "" {
		return s.prices[ref]
	}
	// Of several the one counts that policies take: the first by name that names costs.
	var original *catalog.Plan
	for i := range s.originals {
		one := &s.originals[i]
		entry := one.PlanEntry()
		if entry.ExternalID != from.ExternalID || entry.Broker.Name != from.Broker || !entry.Costs.Named() && !entry.Costs.Free {
			continue
		}
		named := func(plan *catalog.Plan) bool { costs := plan.PlanEntry().Costs; return costs.Named() }
		if original == nil || entry.Costs.Named() && (!named(original) || entry.Name < original.Object.GetName()) {
			original = one
		}
	}
	if original == nil {
		return ""
	}
	return catalog.Price(original)
}

// target is a plan as policies see it.
func (s *slice) target(class *catalog.Class, plan *catalog.Plan) policy.Target {
	target := policy.TargetOf(class.ClassEntry(), plan.PlanEntry())
	originals := make([]resolve.PlanEntry, len(s.originals))
	for i := range s.originals {
		originals[i] = s.originals[i].PlanEntry()
	}
	return target.PricedBy(originals)
}

func (s *slice) addType(serviceType catalog.Type) error {
	return s.change(func() { s.types[catalog.RefOf(serviceType.Object)] = serviceType })
}

func (s *slice) addPolicy(object client.Object, rule policy.Rule) error {
	return s.change(func() { s.policies, s.rules = append(s.policies, object), append(s.rules, rule) })
}

// note says what could not be read.
func (s *slice) note(text string) error {
	return s.change(func() {
		if !slices.Contains(s.notes, text) {
			s.notes = append(s.notes, text)
			slices.Sort(s.notes)
		}
	})
}

// class is the class of a plan, which has its scope.
func (s *slice) class(plan catalog.Plan) (catalog.Class, bool) {
	class, ok := s.classes[resolve.Ref{Namespace: plan.Object.GetNamespace(), Name: plan.ClassName}]
	return class, ok
}

// place is the namespace as policies see it.
func (s *slice) place(namespace string) policy.Place {
	place := policy.Place{Namespace: namespace}
	if s.namespace != nil {
		place.Labels = s.namespace.Labels
	}
	return place
}

// entries are the slice as package resolve sees it, with what policies keep from
// a namespace marked.
func (s *slice) entries(namespace string) (resolve.Catalog, map[resolve.Ref]*policy.Refusal) {
	var entries resolve.Catalog
	refused := map[resolve.Ref]*policy.Refusal{}
	for _, ref := range sorted(s.classes) {
		entries.Classes = append(entries.Classes, s.classes[ref].ClassEntry())
	}
	for _, ref := range sorted(s.plans) {
		view := s.plans[ref]
		plan := view.PlanEntry()
		if class, ok := s.class(view); ok {
			if refusal := policy.Judge(s.rules, s.target(&class, &view), s.place(namespace)); refusal != nil {
				plan.Denied, refused[ref] = refusal.Policies[0], refusal
			}
		}
		entries.Plans = append(entries.Plans, plan)
	}
	for _, ref := range sorted(s.types) {
		entries.Records = append(entries.Records, s.types[ref].Record())
	}
	return entries, refused
}

func sorted[V any](of map[resolve.Ref]V) []resolve.Ref {
	refs := make([]resolve.Ref, 0, len(of))
	for ref := range of {
		refs = append(refs, ref)
	}
	slices.SortFunc(refs, func(a, b resolve.Ref) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return refs
}
