package catalog

import (
	"cmp"
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// Reasons for which a plan or class cannot be read.
const (
	reasonNoPlan  = "ReferencesNonexistentServicePlan"
	reasonNoClass = "ReferencesNonexistentServiceClass"
)

// OfInstance is the offering that an instance's spec refers to. If its plan or
// class is gone, it is rebuilt from the record of the plan that the instance
// has at its broker, provided that spec refers to that plan: enough to update
// the instance, to bind to it and to deprovision it.
func (c *Reader) OfInstance(ctx context.Context, i *v1beta1.ServiceInstance) (*Offering, *lifecycle.Problem, error) {
	o, problem, err := c.Decided(ctx, &i.Spec.DecidedReference, i.Namespace)
	if err != nil || problem == nil || problem.Reason != reasonNoPlan && problem.Reason != reasonNoClass {
		return o, problem, err
	}
	thing := lifecycle.OfInstance(i)
	if !refersToWhatItHas(i, &thing.Record) {
		return nil, problem, nil
	}
	if o, err = c.recorded(ctx, i, thing.Record.Applied); o == nil || err != nil {
		return nil, problem, err
	}
	return o, nil, nil
}

// refersToWhatItHas says whether the plan of an instance's spec, which cannot
// be read, is the one that it has at its broker.
func refersToWhatItHas(i *v1beta1.ServiceInstance, r *lifecycle.Record) bool {
	has, ref := r.Applied, &i.Spec.DecidedReference
	// An instance that must be fetched may have to be provisioned again: only
	// the class says whether it can be fetched.
	if !r.Exists || r.FetchRequired || has == nil || has.ClassExternalID == "" || has.PlanExternalID == "" || has.Cluster != (ref.ClusterServicePlanRef.GetName() != "") {
		return false
	}
	if has.PlanRefName == "" { // recorded by an older release
		return i.Generation == r.ReconciledGeneration
	}
	return has.PlanRefName == planRefName(ref)
}

func planRefName(ref *v1beta1.DecidedReference) string {
	return cmp.Or(ref.ClusterServicePlanRef.GetName(), ref.ServicePlanRef.GetName())
}

// recorded is the offering of a record, completed by the plan or the class that
// still exists; nil if that is not the recorded one. No policy selects it,
// because policies do not apply to what exists at a broker.
func (c *Reader) recorded(ctx context.Context, i *v1beta1.ServiceInstance, has *lifecycle.Request) (*Offering, error) {
	o := &Offering{
		Cluster: has.Cluster, Lost: true, Target: has.BrokerTarget, PlanName: has.PlanName, PlanRefName: planRefName(&i.Spec.DecidedReference),
		// The broker decides whether it can be bound to.
		Class: &v1beta1.CommonServiceClassSpec{ExternalID: has.ClassExternalID, Bindable: true},
		Plan:  &v1beta1.CommonServicePlanSpec{ExternalID: has.PlanExternalID},
	}
	class, plan, err := c.remains(ctx, &i.Spec.DecidedReference, i.Namespace)
	if err != nil {
		return nil, err
	}
	if class != nil {
		o.Class = class
	}
	o.ClassLost = class == nil
	if plan != nil {
		o.Plan = plan
	}
	o.Plan.ServiceType = cmp.Or(o.Plan.ServiceType, i.Spec.ServiceType, i.Status.ServiceType, o.Class.ServiceType)
	if o.Class.ExternalID != has.ClassExternalID || o.Plan.ExternalID != has.PlanExternalID {
		return nil, nil
	}
	return o, nil
}

// remains reads the class and the plan, as far as they exist.
func (c *Reader) remains(ctx context.Context, ref *v1beta1.DecidedReference, namespace string) (*v1beta1.CommonServiceClassSpec, *v1beta1.CommonServicePlanSpec, error) {
	classAt, planAt := client.ObjectKey{Name: ref.ClusterServiceClassRef.GetName()}, client.ObjectKey{Name: ref.ClusterServicePlanRef.GetName()}
	if planAt.Name == "" {
		classAt = client.ObjectKey{Namespace: namespace, Name: ref.ServiceClassRef.GetName()}
		planAt = client.ObjectKey{Namespace: namespace, Name: ref.ServicePlanRef.GetName()}
	}
	class, plan := v1beta1.NewClass(classAt.Namespace), v1beta1.NewPlan(planAt.Namespace)
	lacksClass, err := c.get(ctx, classAt, class, reasonNoClass, "class")
	if err != nil {
		return nil, nil, err
	}
	lacksPlan, err := c.get(ctx, planAt, plan, reasonNoPlan, "plan")
	classSpec, planSpec := class.GetSpec(), plan.GetSpec()
	if lacksClass != nil {
		classSpec = nil
	}
	if lacksPlan != nil {
		planSpec = nil
	}
	return classSpec, planSpec, err
}
