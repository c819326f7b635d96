package controller

import (
	"cmp"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

// describe sets the names that columns show: those of the class and the plan, and the type where
// spec has none.
func (s *instanceResource) describe(status *v1beta1.ServiceInstanceStatus) {
	class, plan := s.offering.Names()
	askedClass, askedPlan := asked(&s.instance.Spec.PlanReference)
	if s.offering != nil { // what it was called is nearer than the ID that it was asked for by
		askedClass, askedPlan = cmp.Or(status.UserSpecifiedClassName, askedClass), cmp.Or(status.UserSpecifiedPlanName, askedPlan)
	}
	status.UserSpecifiedClassName = shown(cmp.Or(class, askedClass, status.UserSpecifiedClassName))
	status.UserSpecifiedPlanName = shown(cmp.Or(plan, askedPlan, status.UserSpecifiedPlanName))
	status.ServiceType = s.offering.TypeBeside(s.instance.Spec.ServiceType, status.ServiceType)
}

// longestName bounds the names in columns; external names have at most 253 characters.
const longestName = 253

// shown is a name for a column. A broker or a tenant may write tabs and line breaks into a name,
// which would put its parts into the columns behind it.
func shown(name string) string { return osb.Printable(name, longestName) }

// asked are the class and the plan as the user named them.
func asked(ref *v1beta1.PlanReference) (class, plan string) {
	return cmp.Or(
			ref.ClusterServiceClassExternalName, ref.ClusterServiceClassExternalID, ref.ClusterServiceClassName,
			ref.ServiceClassExternalName, ref.ServiceClassExternalID, ref.ServiceClassName,
		), cmp.Or(
			ref.ClusterServicePlanExternalName, ref.ClusterServicePlanExternalID, ref.ClusterServicePlanName,
			ref.ServicePlanExternalName, ref.ServicePlanExternalID, ref.ServicePlanName,
		)
}

// onlyNames says whether a version of an instance differs from the stored one in no more than the
// class and the plan that columns show. The type is more: it tells what a lost plan was of.
func onlyNames(stored, next client.Object) bool {
	was, is := stored.(*v1beta1.ServiceInstance)
	if !is {
		return false
	}
	next = next.DeepCopyObject().(client.Object)      //nolint:forcetypeassert // a copy is of the kind of the original
	status := &next.(*v1beta1.ServiceInstance).Status //nolint:forcetypeassert // both are versions of one object
	status.UserSpecifiedClassName, status.UserSpecifiedPlanName = was.Status.UserSpecifiedClassName, was.Status.UserSpecifiedPlanName
	return equality.Semantic.DeepEqual(next, stored)
}
