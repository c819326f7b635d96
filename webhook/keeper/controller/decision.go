package controller

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// DecisionOn is the decision of an instance or binding.
func DecisionOn(object client.Object) *v1beta1.DecidedReference {
	switch o := object.(type) {
	case *v1beta1.ServiceInstance:
		return &o.Spec.DecidedReference
	case *v1beta1.ServiceBinding:
		return &o.Spec.DecidedReference
	}
	return &v1beta1.DecidedReference{}
}

// PlanOf is the plan that was decided on, if one was.
func PlanOf(object client.Object) (resolve.Ref, bool) {
	decision := DecisionOn(object)
	switch {
	case decision.ClusterServicePlanRef != nil && decision.ClusterServicePlanRef.Name != "":
		return resolve.Ref{Name: decision.ClusterServicePlanRef.Name}, true
	case decision.ServicePlanRef != nil && decision.ServicePlanRef.Name != "":
		return resolve.Ref{Namespace: object.GetNamespace(), Name: decision.ServicePlanRef.Name}, true
	}
	return resolve.Ref{}, false
}
