package controller

import (
	"cmp"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// describe sets the names that columns show: those of the class and the plan, and the type where
// spec has none.
func (s *instanceResource) describe(status *v1beta1.ServiceInstanceStatus) {
	class, plan := s.offering.Names()
	askedClass, askedPlan := asked(&s.instance.Spec.PlanReference)
	status.UserSpecifiedClassName = cmp.Or(class, askedClass, status.UserSpecifiedClassName)
	status.UserSpecifiedPlanName = cmp.Or(plan, askedPlan, status.UserSpecifiedPlanName)
	status.ServiceType = s.offering.TypeBeside(s.instance.Spec.ServiceType, status.ServiceType)
}

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

// onlyNames says whether a version of an object differs from the stored one in no more than the
// names that columns show.
func onlyNames(stored, next client.Object) bool {
	next = next.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a copy is of the kind of the original
	switch is := next.(type) {
	case *v1beta1.ServiceInstance:
		was := &stored.(*v1beta1.ServiceInstance).Status //nolint:forcetypeassert // both are versions of one object
		is.Status.UserSpecifiedClassName, is.Status.UserSpecifiedPlanName = was.UserSpecifiedClassName, was.UserSpecifiedPlanName
		is.Status.ServiceType = was.ServiceType
	case *v1beta1.ServiceBinding:
		is.Status.ServiceType = stored.(*v1beta1.ServiceBinding).Status.ServiceType //nolint:forcetypeassert // both are versions of one object
	}
	return equality.Semantic.DeepEqual(next, stored)
}
