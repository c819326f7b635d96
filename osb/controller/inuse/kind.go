package inuse

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A kind is one of the four kinds of classes and plans.
type kind struct {
	// name is that of the controller.
	name       string
	namespaced bool
	newObject  func() v1beta1.OfferingObject
	// field is the one by which instances and bindings refer to the kind, and referred what one of them has in it.
	field    string
	referred func(*v1beta1.DecidedReference) string
}

// namespaced are the kinds that have a namespace.
var namespaced = []kind{
	{
		"serviceclasses-in-use", true, func() v1beta1.OfferingObject { return &v1beta1.ServiceClass{} }, v1beta1.FieldServiceClassRefName,
		func(d *v1beta1.DecidedReference) string { return d.ServiceClassRef.GetName() },
	},
	{
		"serviceplans-in-use", true, func() v1beta1.OfferingObject { return &v1beta1.ServicePlan{} }, v1beta1.FieldServicePlanRefName,
		func(d *v1beta1.DecidedReference) string { return d.ServicePlanRef.GetName() },
	},
}

// clusterScoped are the others.
var clusterScoped = []kind{
	{
		"clusterserviceclasses-in-use", false, func() v1beta1.OfferingObject { return &v1beta1.ClusterServiceClass{} }, v1beta1.FieldClusterServiceClassRefName,
		func(d *v1beta1.DecidedReference) string { return d.ClusterServiceClassRef.GetName() },
	},
	{
		"clusterserviceplans-in-use", false, func() v1beta1.OfferingObject { return &v1beta1.ClusterServicePlan{} }, v1beta1.FieldClusterServicePlanRefName,
		func(d *v1beta1.DecidedReference) string { return d.ClusterServicePlanRef.GetName() },
	},
}

// decidedOn is the reference of an instance or binding.
func decidedOn(user client.Object) *v1beta1.DecidedReference {
	switch u := user.(type) {
	case *v1beta1.ServiceInstance:
		return &u.Spec.DecidedReference
	case *v1beta1.ServiceBinding:
		return &u.Spec.DecidedReference
	}
	return &v1beta1.DecidedReference{}
}

// userDefined says that no broker's catalog makes the object.
func userDefined(o client.Object) bool { return metav1.GetControllerOfNoCopy(o) == nil }
