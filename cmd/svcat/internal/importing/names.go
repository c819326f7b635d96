package importing

import (
	"cmp"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// references are those by which admission takes an object as decided on the offer.
func (o *offer) references() v1beta1.DecidedReference {
	class, plan := o.class.Object.GetName(), o.plan.Object.GetName()
	if _, cluster := o.plan.Object.(*v1beta1.ClusterServicePlan); cluster {
		return v1beta1.DecidedReference{
			ClusterServiceClassRef: &v1beta1.ClusterObjectReference{Name: class}, ClusterServicePlanRef: &v1beta1.ClusterObjectReference{Name: plan},
		}
	}
	return v1beta1.DecidedReference{
		ServiceClassRef: &v1beta1.LocalObjectReference{Name: class}, ServicePlanRef: &v1beta1.LocalObjectReference{Name: plan},
	}
}

// serviceType is the type of the plan, else of its class.
func (o *offer) serviceType() string {
	return cmp.Or(o.plan.Spec.ServiceType, o.class.Spec.ServiceType)
}

// rename has the names by which a spec calls class and plan be those of this cluster. A spec that
// names neither calls them by their external names: its type may be no one's here.
func (o *offer) rename(names *v1beta1.PlanReference) {
	class, plan := o.class, o.plan
	for field, here := range map[*string]string{
		&names.ClusterServiceClassExternalName: class.Spec.ExternalName, &names.ServiceClassExternalName: class.Spec.ExternalName,
		&names.ClusterServiceClassExternalID: class.Spec.ExternalID, &names.ServiceClassExternalID: class.Spec.ExternalID,
		&names.ClusterServiceClassName: class.Object.GetName(), &names.ServiceClassName: class.Object.GetName(),
		&names.ClusterServicePlanExternalName: plan.Spec.ExternalName, &names.ServicePlanExternalName: plan.Spec.ExternalName,
		&names.ClusterServicePlanExternalID: plan.Spec.ExternalID, &names.ServicePlanExternalID: plan.Spec.ExternalID,
		&names.ClusterServicePlanName: plan.Object.GetName(), &names.ServicePlanName: plan.Object.GetName(),
	} {
		if *field != "" {
			*field = here
		}
	}
	if *names != (v1beta1.PlanReference{}) {
		return
	}
	if _, cluster := plan.Object.(*v1beta1.ClusterServicePlan); cluster {
		names.ClusterServiceClassExternalName, names.ClusterServicePlanExternalName = class.Spec.ExternalName, plan.Spec.ExternalName
		return
	}
	names.ServiceClassExternalName, names.ServicePlanExternalName = class.Spec.ExternalName, plan.Spec.ExternalName
}
