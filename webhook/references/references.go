package references

import (
	"strings"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// Pair are the class and plan that spec is decided on, empty where it is not.
type Pair struct {
	Class, Plan resolve.Ref
}

// Of reads the references of spec; namespace is the object's.
func Of(spec *v1beta1.DecidedReference, namespace string) Pair {
	names := names(spec)
	if names[2] == "" && names[3] == "" {
		return Pair{Class: resolve.Ref{Name: names[0]}, Plan: resolve.Ref{Name: names[1]}}
	}
	var r Pair
	if names[2] != "" {
		r.Class = resolve.Ref{Namespace: namespace, Name: names[2]}
	}
	if names[3] != "" {
		r.Plan = resolve.Ref{Namespace: namespace, Name: names[3]}
	}
	return r
}

// Empty says that neither class nor plan is referred to.
func (r Pair) Empty() bool { return r.Plan.Name == "" && r.Class.Name == "" }

// Set writes the references of one scope into spec, and empties those of the
// other.
func (r Pair) Set(spec *v1beta1.DecidedReference) {
	*spec = Cleared(spec)
	if r.Plan.Namespaced() {
		spec.ServiceClassRef = &v1beta1.LocalObjectReference{Name: r.Class.Name}
		spec.ServicePlanRef = &v1beta1.LocalObjectReference{Name: r.Plan.Name}
		return
	}
	spec.ClusterServiceClassRef = &v1beta1.ClusterObjectReference{Name: r.Class.Name}
	spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: r.Plan.Name}
}

// Field is the field of spec that is about a kind in the scope of a namespace, such as
// clusterServicePlanName: kind is ServicePlan, and what about it is Name.
func Field(namespace, kind, what string) string {
	field := v1beta1.ScopedKind(namespace, kind)
	return "spec." + strings.ToLower(field[:1]) + field[1:] + what
}

// Cleared are references without names, nil where there was none: a patch of additions cannot
// remove them.
func Cleared(spec *v1beta1.DecidedReference) v1beta1.DecidedReference {
	return v1beta1.DecidedReference{
		ClusterServiceClassRef: emptied(spec.ClusterServiceClassRef), ClusterServicePlanRef: emptied(spec.ClusterServicePlanRef),
		ServiceClassRef: emptied(spec.ServiceClassRef), ServicePlanRef: emptied(spec.ServicePlanRef),
	}
}

// emptied is a reference without a name, nil where there was none.
func emptied[T any](ref *T) *T {
	if ref == nil {
		return nil
	}
	return new(T)
}

// hashed are the labels that old clients look instances up by, in the order
// of names.
var hashed = [4]string{
	v1beta1.LabelClusterServiceClassRefName, v1beta1.LabelClusterServicePlanRefName,
	v1beta1.LabelServiceClassRefName, v1beta1.LabelServicePlanRefName,
}

// HashedLabels are the labels of references. One that is present and whose
// reference was emptied is emptied too.
func HashedLabels(spec *v1beta1.DecidedReference, present map[string]string) map[string]string {
	labels := map[string]string{}
	for i, name := range names(spec) {
		switch {
		case name != "":
			labels[hashed[i]] = v1beta1.HashLabelValue(name)
		case spec.Decided() && present[hashed[i]] != "":
			labels[hashed[i]] = ""
		}
	}
	return labels
}

// Forged refuses references on an instance that is not decided.
func Forged(spec *v1beta1.DecidedReference) *review.Denial {
	field := Changed(spec, &v1beta1.DecidedReference{}, &v1beta1.DecidedReference{})
	return review.Invalid("ForgedReference", field, "it must not be present: it is decided at admission").
		Remedy("name a class and plan, or a service type, instead; a backup keeps spec.externalID or the annotation %s beside its references", v1beta1.AnnotationAppliedDefaults)
}

// Changed is the path of the first reference that is given and neither
// what it was nor what it is to be.
func Changed(given, was, now *v1beta1.DecidedReference) string {
	x, y, z := names(given), names(was), names(now)
	for i, field := range fields {
		if x[i] != "" && x[i] != y[i] && x[i] != z[i] {
			return "spec." + field
		}
	}
	return ""
}

var fields = [4]string{"clusterServiceClassRef", "clusterServicePlanRef", "serviceClassRef", "servicePlanRef"}

func names(d *v1beta1.DecidedReference) [4]string {
	return [4]string{
		d.ClusterServiceClassRef.GetName(), d.ClusterServicePlanRef.GetName(), d.ServiceClassRef.GetName(), d.ServicePlanRef.GetName(),
	}
}
