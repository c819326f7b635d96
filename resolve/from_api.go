package resolve

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// What an object itself can say about being gone. Whoever knows that the broker is gone says so in Gone.
const (
	beingDeleted       = "being deleted"
	removedFromCatalog = "removed from its broker's catalog"
	annotationTrue     = "true"
)

// ClassFrom returns the entry of a class of either scope. It shares the object's labels.
func ClassFrom[T *v1beta1.ClusterServiceClass | *v1beta1.ServiceClass](class T) ClassEntry {
	switch c := any(class).(type) {
	case *v1beta1.ClusterServiceClass:
		entry := classFrom(&c.ObjectMeta, &c.Spec.CommonServiceClassSpec, c.Status.RemovedFromBrokerCatalog)
		entry.Broker = brokerOf("", c.Spec.ClusterServiceBrokerName, "")
		return entry
	case *v1beta1.ServiceClass:
		entry := classFrom(&c.ObjectMeta, &c.Spec.CommonServiceClassSpec, c.Status.RemovedFromBrokerCatalog)
		entry.Broker = brokerOf(c.Namespace, c.Spec.ClusterServiceBrokerName, c.Spec.ServiceBrokerName)
		return entry
	}
	return ClassEntry{}
}

func classFrom(meta *metav1.ObjectMeta, spec *v1beta1.CommonServiceClassSpec, removed bool) ClassEntry {
	return ClassEntry{
		Ref:          Ref{Namespace: meta.Namespace, Name: meta.Name},
		ExternalName: spec.ExternalName,
		ExternalID:   spec.ExternalID,
		Type:         spec.ServiceType,
		Labels:       meta.Labels,
		Gone:         gone(meta, removed),
	}
}

// PlanFrom returns the entry of a plan of either scope. It shares the object's labels.
func PlanFrom[T *v1beta1.ClusterServicePlan | *v1beta1.ServicePlan](plan T) PlanEntry {
	switch p := any(plan).(type) {
	case *v1beta1.ClusterServicePlan:
		entry := planFrom(&p.ObjectMeta, &p.Spec.CommonServicePlanSpec, p.Spec.ClusterServiceClassRef.Name, p.Status.RemovedFromBrokerCatalog)
		entry.Broker = brokerOf("", p.Spec.ClusterServiceBrokerName, "")
		return entry
	case *v1beta1.ServicePlan:
		entry := planFrom(&p.ObjectMeta, &p.Spec.CommonServicePlanSpec, p.Spec.ServiceClassRef.Name, p.Status.RemovedFromBrokerCatalog)
		entry.Broker = brokerOf(p.Namespace, p.Spec.ClusterServiceBrokerName, p.Spec.ServiceBrokerName)
		return entry
	}
	return PlanEntry{}
}

func planFrom(meta *metav1.ObjectMeta, spec *v1beta1.CommonServicePlanSpec, class string, removed bool) PlanEntry {
	return PlanEntry{
		Ref:          Ref{Namespace: meta.Namespace, Name: meta.Name},
		UID:          string(meta.UID),
		Class:        class,
		ExternalName: spec.ExternalName,
		ExternalID:   spec.ExternalID,
		Type:         spec.ServiceType,
		Labels:       meta.Labels,
		Default:      meta.Annotations[v1beta1.AnnotationDefaultPlan] == annotationTrue,
		Suggested:    meta.Annotations[v1beta1.AnnotationSuggestedPlan] == annotationTrue,
		Weight:       spec.Weight,
		Gone:         gone(meta, removed),
	}
}

func gone(meta *metav1.ObjectMeta, removed bool) string {
	switch {
	case meta.DeletionTimestamp != nil:
		return beingDeleted
	case removed:
		return removedFromCatalog
	}
	return ""
}

// RecordFrom returns the record that a service type of either scope keeps. One that is being deleted records nothing.
func RecordFrom[T *v1beta1.ClusterServiceType | *v1beta1.ServiceType](serviceType T) Record {
	switch t := any(serviceType).(type) {
	case *v1beta1.ClusterServiceType:
		return recordFrom(&t.ObjectMeta, &t.Spec)
	case *v1beta1.ServiceType:
		return recordFrom(&t.ObjectMeta, &t.Spec)
	}
	return Record{}
}

func recordFrom(meta *metav1.ObjectMeta, spec *v1beta1.ServiceTypeSpec) Record {
	r := Record{Type: meta.Name, Plan: Ref{Namespace: meta.Namespace}}
	if spec.DefaultPlanRef != nil && meta.DeletionTimestamp == nil {
		r.Plan.Name = spec.DefaultPlanRef.Name
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
