package explain

import (
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/resolve"
)

// commons are the objects of the slice that every question needs.
func (s *slice) commons() []client.Object {
	var objects []client.Object
	for _, ref := range sorted(s.types) {
		objects = append(objects, s.types[ref].Object)
	}
	objects = append(objects, s.policies...)
	if s.namespace != nil {
		objects = append(objects, s.namespace)
	}
	return objects
}

// unchosen are the plans that others have their costs from. A plan that the question is about
// comes after them, and replaces its own.
func (s *slice) unchosen() []client.Object {
	var objects []client.Object
	for i := range s.originals {
		objects = append(objects, unchosen(&s.originals[i]))
	}
	return objects
}

// bindingMatter are the objects that admission needs for a binding.
func bindingMatter(s *slice, instance *v1beta1.ServiceInstance) []client.Object {
	objects := append(s.unchosen(), s.commons()...)
	for _, ref := range sorted(s.classes) {
		objects = append(objects, s.classes[ref].Object)
	}
	for _, ref := range sorted(s.plans) {
		objects = append(objects, s.plans[ref].Object)
	}
	if instance != nil {
		objects = append(objects, instance)
	}
	return objects
}

// matter are the objects of the slice that admission needs. Those that claim a tier
// are enough to decide, but where the others are counted. What is only counted comes
// without what is long; whole is what may be held against a schema: the plan that is
// chosen, and a few others that claim a tier.
func (c *chosen) matter() []client.Object {
	claims, all, choice := c.claims(), c.countsAll(), c.teller.account.Choice.Plan.Ref
	objects := c.slice.unchosen()
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

// unchosen is a plan of the cluster with what it costs, so that nothing chooses it.
func unchosen(plan *catalog.Plan) client.Object {
	bare := &v1beta1.ClusterServicePlan{}
	bare.Name, bare.ResourceVersion, bare.UID = plan.Object.GetName(), plan.Object.GetResourceVersion(), plan.Object.GetUID()
	bare.Spec.ExternalID, bare.Spec.Free, bare.Spec.ClusterServiceBrokerName = plan.Spec.ExternalID, plan.Spec.Free, plan.Object.GetBroker().ClusterServiceBrokerName
	bare.Spec.ExternalMetadata = plan.Spec.ExternalMetadata // whether costs were not read yet
	bare.Status.Costs, bare.Status.MalformedCosts = plan.Status.Costs, plan.Status.MalformedCosts
	return bare
}

func slimSpec(spec *v1beta1.CommonServicePlanSpec) {
	spec.Description, spec.ExternalMetadata, spec.Defaults = "", nil, v1beta1.Defaults{}
	spec.InstanceCreateParameterSchema, spec.InstanceUpdateParameterSchema = nil, nil
	spec.ServiceBindingCreateParameterSchema = nil
}
