package resolve

import (
	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/costs"
)

// Reasons for being gone that the object itself shows. A caller that knows that
// the broker is gone sets Gone.
const (
	beingDeleted       = "being deleted"
	removedFromCatalog = "removed from its broker's catalog"
	annotationTrue     = "true"
)

// ClassFrom returns the entry of a class of either scope. It shares the object's labels.
func ClassFrom[T v1beta1.ClassObject](class T) ClassEntry {
	spec := class.GetSpec()
	return ClassEntry{
		Ref:          Ref{Namespace: class.GetNamespace(), Name: class.GetName()},
		ExternalName: spec.ExternalName,
		ExternalID:   spec.ExternalID,
		Broker:       brokerOf(class),
		Type:         spec.ServiceType,
		Labels:       class.GetLabels(),
		Gone:         gone(class),
	}
}

// PlanFrom returns the entry of a plan of either scope. It shares the object's labels and costs.
func PlanFrom[T v1beta1.PlanObject](plan T) PlanEntry {
	spec, status, annotations := plan.GetSpec(), plan.GetStatus(), plan.GetAnnotations()
	return PlanEntry{
		Ref:          Ref{Namespace: plan.GetNamespace(), Name: plan.GetName()},
		UID:          string(plan.GetUID()),
		Class:        plan.GetClassName(),
		ExternalName: spec.ExternalName,
		ExternalID:   spec.ExternalID,
		Broker:       brokerOf(plan),
		Type:         spec.ServiceType,
		Labels:       plan.GetLabels(),
		Default:      annotations[v1beta1.AnnotationDefaultPlan] == annotationTrue,
		Suggested:    annotations[v1beta1.AnnotationSuggestedPlan] == annotationTrue,
		Weight:       spec.Weight,
		Costs:        costsFrom(spec, status),
		Gone:         gone(plan),
	}
}

func costsFrom(spec *v1beta1.CommonServicePlanSpec, status *v1beta1.CommonServicePlanStatus) Costs {
	c := Costs{Listed: status.Costs, Malformed: status.MalformedCosts != "", Free: spec.Free}
	c.Unread = !c.Named() && spec.ExternalMetadata != nil && costs.Named(spec.ExternalMetadata.Raw)
	return c
}

func gone(offering v1beta1.OfferingObject) string {
	switch {
	case offering.GetDeletionTimestamp() != nil:
		return beingDeleted
	case offering.IsRemoved():
		return removedFromCatalog
	}
	return ""
}

// RecordFrom returns the record that a service type of either scope keeps. One that is being deleted records nothing.
func RecordFrom[T v1beta1.TypeObject](serviceType T) Record {
	r := Record{Type: serviceType.GetName(), Plan: Ref{Namespace: serviceType.GetNamespace()}}
	if ref := serviceType.GetSpec().DefaultPlanRef; ref != nil && serviceType.GetDeletionTimestamp() == nil {
		r.Plan.Name = ref.Name
	}
	return r
}

// RequestFor returns the request that the references of an object in the namespace make; its Type and Selector are
// the caller's to set. The seed is that of Request. It returns an *Error with reason InvalidReference if a class or
// plan is named twice, or in both scopes.
func RequestFor(ref *v1beta1.PlanReference, namespace, seed string) (Request, error) {
	class, err := onlyName("Class", names{
		{ref.ClusterServiceClassName, ref.ClusterServiceClassExternalName, ref.ClusterServiceClassExternalID},
		{ref.ServiceClassName, ref.ServiceClassExternalName, ref.ServiceClassExternalID},
	})
	if err != nil {
		return Request{}, err
	}
	plan, err := onlyName("Plan", names{
		{ref.ClusterServicePlanName, ref.ClusterServicePlanExternalName, ref.ClusterServicePlanExternalID},
		{ref.ServicePlanName, ref.ServicePlanExternalName, ref.ServicePlanExternalID},
	})
	if err != nil {
		return Request{}, err
	}
	if class.Value != "" && plan.Value != "" && class.namespaced != plan.namespaced {
		return Request{}, beside(plan.field("Plan"), plan.Value, class.field("Class"), "class and plan are of one scope")
	}
	return Request{
		Namespace:  namespace,
		Seed:       seed,
		Namespaced: class.namespaced || plan.namespaced,
		Class:      class.Named,
		Plan:       plan.Named,
	}, nil
}

// names are the values of the six fields that name one thing, by scope (the cluster's first) and NameKind.
type names [2][3]string

type scopedName struct {
	Named

	namespaced bool
}

func (n scopedName) field(kind string) string { return nameField(n.namespaced, kind, n.By) }

// onlyName returns the one name that is given, if any.
func onlyName(kind string, all names) (scopedName, error) {
	var found scopedName
	for scope := range all {
		for by := ByName; by <= ByExternalID; by++ {
			value := all[scope][by]
			if value == "" {
				continue
			}
			name := scopedName{Named: Named{By: by, Value: value}, namespaced: scope == 1}
			if found.Value != "" {
				return scopedName{}, beside(name.field(kind), value, found.field(kind), "give one name, in one scope")
			}
			found = name
		}
	}
	return found, nil
}

func beside(field, value, other, advice string) error {
	return &Error{Reason: InvalidReference, Field: field, Value: value, Detail: "it cannot stand beside " + other + ": " + advice}
}
