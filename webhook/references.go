package webhook

import (
	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// refs are the class and plan that spec is decided on, empty where it is not.
type refs struct {
	class, plan resolve.Ref
}

// refsOf reads the references of spec; namespace is the object's.
func refsOf(spec *v1beta1.DecidedReference, namespace string) refs {
	names := refNames(spec)
	if names[2] == "" && names[3] == "" {
		return refs{class: resolve.Ref{Name: names[0]}, plan: resolve.Ref{Name: names[1]}}
	}
	var r refs
	if names[2] != "" {
		r.class = resolve.Ref{Namespace: namespace, Name: names[2]}
	}
	if names[3] != "" {
		r.plan = resolve.Ref{Namespace: namespace, Name: names[3]}
	}
	return r
}

func (r refs) empty() bool { return r.plan.Name == "" && r.class.Name == "" }

// set writes the references of one scope into spec, and empties those of the
// other, because a patch of additions cannot remove them.
func (r refs) set(spec *v1beta1.DecidedReference) {
	if r.plan.Namespace == "" {
		spec.ClusterServiceClassRef = &v1beta1.ClusterObjectReference{Name: r.class.Name}
		spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: r.plan.Name}
		spec.ServiceClassRef, spec.ServicePlanRef = emptied(spec.ServiceClassRef), emptied(spec.ServicePlanRef)
		return
	}
	spec.ServiceClassRef = &v1beta1.LocalObjectReference{Name: r.class.Name}
	spec.ServicePlanRef = &v1beta1.LocalObjectReference{Name: r.plan.Name}
	spec.ClusterServiceClassRef, spec.ClusterServicePlanRef = emptied(spec.ClusterServiceClassRef), emptied(spec.ClusterServicePlanRef)
}

func emptied[T any](ref *T) *T {
	if ref == nil {
		return nil
	}
	return new(T)
}

// refLabels are the labels that old clients look instances up by, in the order
// of refNames.
var refLabels = [4]string{
	v1beta1.LabelClusterServiceClassRefName, v1beta1.LabelClusterServicePlanRefName,
	v1beta1.LabelServiceClassRefName, v1beta1.LabelServicePlanRefName,
}

// hashedLabels are the labels of references. One that is present and whose
// reference was emptied is emptied too.
func hashedLabels(spec *v1beta1.DecidedReference, present map[string]string) map[string]string {
	labels := map[string]string{}
	for i, name := range refNames(spec) {
		switch {
		case name != "":
			labels[refLabels[i]] = v1beta1.HashLabelValue(name)
		case spec.Decided() && present[refLabels[i]] != "":
			labels[refLabels[i]] = ""
		}
	}
	return labels
}

// refuseReferences refuses references that the write changes by hand: those that
// are neither what they were nor what they are to be.
func (m *instanceMutation) refuseReferences(given, was, now *v1beta1.DecidedReference) {
	if field := changedReference(given, was, now); field != "" {
		m.Deny(review.Invalid("ReferenceChange", field, "it is decided at admission and cannot be edited").
			Remedy("to change the plan, name it: spec.clusterServicePlanExternalName or another of its names"))
	}
}

// forgedReference refuses references on an instance that is not decided.
func forgedReference(spec *v1beta1.DecidedReference) *review.Denial {
	field := changedReference(spec, &v1beta1.DecidedReference{}, &v1beta1.DecidedReference{})
	return review.Invalid("ForgedReference", field, "it must not be present: it is decided at admission").
		Remedy("name a class and plan, or a service type, instead; a backup keeps spec.externalID or the annotation %s beside its references", v1beta1.AnnotationAppliedDefaults)
}

// changedReference is the path of the first reference that is given and neither
// what it was nor what it is to be.
func changedReference(given, was, now *v1beta1.DecidedReference) string {
	x, y, z := refNames(given), refNames(was), refNames(now)
	for i, field := range refFields {
		if x[i] != "" && x[i] != y[i] && x[i] != z[i] {
			return "spec." + field
		}
	}
	return ""
}

var refFields = [4]string{"clusterServiceClassRef", "clusterServicePlanRef", "serviceClassRef", "servicePlanRef"}

func refNames(d *v1beta1.DecidedReference) [4]string {
	var names [4]string
	if d.ClusterServiceClassRef != nil {
		names[0] = d.ClusterServiceClassRef.Name
	}
	if d.ClusterServicePlanRef != nil {
		names[1] = d.ClusterServicePlanRef.Name
	}
	if d.ServiceClassRef != nil {
		names[2] = d.ServiceClassRef.Name
	}
	if d.ServicePlanRef != nil {
		names[3] = d.ServicePlanRef.Name
	}
	return names
}
