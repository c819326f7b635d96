package explain

import (
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/resolve"
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
	// namespace is nil where it is not there, or may not be read.
	namespace *corev1.Namespace
	notes     []string
}

func newSlice() *slice {
	return &slice{
		classes: map[resolve.Ref]catalog.Class{}, plans: map[resolve.Ref]catalog.Plan{}, types: map[resolve.Ref]catalog.Type{},
	}
}

func refOf(object client.Object) resolve.Ref {
	return resolve.Ref{Namespace: object.GetNamespace(), Name: object.GetName()}
}

func (s *slice) addClass(class catalog.Class) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.classes[refOf(class.Object)] = class
	return nil
}

// addPlan takes a plan in without what is not read here: there may be thousands.
func (s *slice) addPlan(plan catalog.Plan) error {
	plan.Object.SetManagedFields(nil)
	plan.Spec.ExternalMetadata = nil
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plans[refOf(plan.Object)] = plan
	return nil
}

func (s *slice) addType(serviceType catalog.Type) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.types[refOf(serviceType.Object)] = serviceType
	return nil
}

func (s *slice) addPolicy(object client.Object, rule policy.Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.policies = append(s.policies, object)
	s.rules = append(s.rules, rule)
}

func (s *slice) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.notes, text) {
		s.notes = append(s.notes, text)
		slices.Sort(s.notes)
	}
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
		plan := s.plans[ref].PlanEntry()
		if class, ok := s.class(s.plans[ref]); ok {
			if refusal := policy.Judge(s.rules, policy.TargetOf(class.ClassEntry(), plan), s.place(namespace)); refusal != nil {
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
		if a.Namespace != b.Namespace {
			return strings.Compare(a.Namespace, b.Namespace)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return refs
}

// matter are the objects of the slice that admission needs. Those that claim a tier
// are enough to decide, but where the others are counted. What is only counted comes
// without what is long; whole is what may be held against a schema: the plan that is
// chosen, and a few others that claim a tier.
func (c *chosen) matter() []client.Object {
	claims, all, choice := c.claims(), c.countsAll(), c.teller.account.Choice.Plan.Ref
	var objects []client.Object
	classes := map[client.Object]bool{}
	for _, ref := range sorted(c.slice.plans) {
		plan, claim := c.slice.plans[ref], claims[scopeName(ref.Namespace)+"/"+ref.Name]
		switch {
		case ref == choice, claim && len(claims) <= shown:
			objects = append(objects, plan.Object)
		case claim, all:
			objects = append(objects, slim(plan))
		default:
			continue
		}
		if class, ok := c.slice.class(plan); ok {
			classes[class.Object] = true
		}
	}
	for _, ref := range sorted(c.slice.classes) {
		if object := c.slice.classes[ref].Object; all || classes[object] {
			objects = append(objects, object)
		}
	}
	return append(objects, c.slice.commons()...)
}

// countsAll says that the answer tells how many plans there are: a class's only plan
// is the only one of all, and where no plan is the default all are listed. Of plans
// among which none is told apart only those are.
func (c *chosen) countsAll() bool {
	refused := c.teller.account.Refused
	return c.withinClass || refused != nil && refused.Reason != resolve.Ambiguous
}

// claims are the plans that claim a tier or are recorded, by scope and name.
func (c *chosen) claims() map[string]bool {
	claims := map[string]bool{}
	for _, tier := range c.now.Tiers {
		for _, claim := range tier.Claims {
			claims[claim.Scope+"/"+claim.Name] = true
		}
	}
	for _, record := range c.now.Records {
		claims[scopeName(record.Namespace)+"/"+record.Plan] = true
	}
	return claims
}

// slim is a plan with what it is chosen by, and no more.
func slim(plan catalog.Plan) client.Object {
	switch p := plan.Object.(type) {
	case *v1beta1.ClusterServicePlan:
		bare := *p
		bare.Annotations, bare.ManagedFields, bare.OwnerReferences = marks(p.Annotations), nil, nil
		slimSpec(&bare.Spec.CommonServicePlanSpec)
		return &bare
	case *v1beta1.ServicePlan:
		bare := *p
		bare.Annotations, bare.ManagedFields, bare.OwnerReferences = marks(p.Annotations), nil, nil
		slimSpec(&bare.Spec.CommonServicePlanSpec)
		return &bare
	}
	return plan.Object
}

// marks are the annotations that make a plan a default or a suggestion.
func marks(annotations map[string]string) map[string]string {
	kept := maps.Clone(annotations)
	maps.DeleteFunc(kept, func(name, _ string) bool {
		return name != v1beta1.AnnotationDefaultPlan && name != v1beta1.AnnotationSuggestedPlan
	})
	return kept
}

func slimSpec(spec *v1beta1.CommonServicePlanSpec) {
	spec.Description, spec.ExternalMetadata, spec.Defaults = "", nil, v1beta1.Defaults{}
	spec.InstanceCreateParameterSchema, spec.InstanceUpdateParameterSchema = nil, nil
	spec.ServiceBindingCreateParameterSchema = nil
}
