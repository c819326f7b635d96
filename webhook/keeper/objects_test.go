package keeper_test

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

func instance(namespace, name string, spec func(*v1beta1.ServiceInstanceSpec)) *v1beta1.ServiceInstance {
	i := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: types.UID(namespace + "/" + name), Generation: 1,
	}}
	if spec != nil {
		spec(&i.Spec)
	}
	return i
}

func ofMySQL(name string) *v1beta1.ServiceInstance {
	return instance("a", name, func(s *v1beta1.ServiceInstanceSpec) { s.ServiceType = "mysql" })
}

func deleting(i *v1beta1.ServiceInstance) *v1beta1.ServiceInstance {
	now := metav1.Now()
	i.DeletionTimestamp, i.Finalizers = &now, []string{v1beta1.FinalizerServiceCatalog}
	return i
}

func commonClass(serviceType string) v1beta1.CommonServiceClassSpec {
	return v1beta1.CommonServiceClassSpec{ExternalName: "azure", ExternalID: "c1-id", ServiceType: serviceType}
}

func commonPlan(serviceType string) v1beta1.CommonServicePlanSpec {
	return v1beta1.CommonServicePlanSpec{ExternalName: "basic", ExternalID: "p1-id", ServiceType: serviceType}
}

func clusterClass(serviceType string) *v1beta1.ClusterServiceClass {
	return &v1beta1.ClusterServiceClass{
		ObjectMeta: metav1.ObjectMeta{Name: "c1"},
		Spec:       v1beta1.ClusterServiceClassSpec{CommonServiceClassSpec: commonClass(serviceType)},
	}
}

func class(namespace, serviceType string) *v1beta1.ServiceClass {
	return &v1beta1.ServiceClass{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "c1"},
		Spec:       v1beta1.ServiceClassSpec{CommonServiceClassSpec: commonClass(serviceType)},
	}
}

func clusterPlan(serviceType string) *v1beta1.ClusterServicePlan {
	return &v1beta1.ClusterServicePlan{
		ObjectMeta: metav1.ObjectMeta{Name: "p1"},
		Spec: v1beta1.ClusterServicePlanSpec{
			CommonServicePlanSpec:  commonPlan(serviceType),
			ClusterServiceClassRef: v1beta1.ClusterObjectReference{Name: "c1"},
		},
	}
}

func plan(namespace, serviceType string) *v1beta1.ServicePlan {
	return &v1beta1.ServicePlan{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "p1"},
		Spec: v1beta1.ServicePlanSpec{
			CommonServicePlanSpec: commonPlan(serviceType),
			ServiceClassRef:       v1beta1.LocalObjectReference{Name: "c1"},
		},
	}
}

// ofBroker makes a plan one of a broker of the cluster, and of a namespace a copy of such.
func ofBroker[T client.Object](plan T, broker string) T {
	switch p := any(plan).(type) {
	case *v1beta1.ClusterServicePlan:
		p.Spec.ClusterServiceBrokerName = broker
	case *v1beta1.ServicePlan:
		p.Spec.ClusterServiceBrokerName = broker
	}
	return plan
}

// costing is a plan with a cost for a month.
func costing[T v1beta1.PlanObject](plan T, amount string) T {
	plan.GetStatus().Costs = []v1beta1.PlanCost{{Currency: "usd", Amount: amount, Unit: "MONTHLY"}}
	return plan
}

// over100 selects the plans that cost more than 100 a month.
func over100() v1beta1.PlanSubject {
	return v1beta1.PlanSubject{Costs: &v1beta1.PolicyCosts{Currency: "usd", Unit: "MONTHLY", Above: "100", Unknown: v1beta1.UnknownAllow}}
}

func clusterType(plan string) *v1beta1.ClusterServiceType {
	return &v1beta1.ClusterServiceType{
		ObjectMeta: metav1.ObjectMeta{Name: "mysql"},
		Spec:       v1beta1.ServiceTypeSpec{DefaultPlanRef: &v1beta1.PlanObjectReference{Name: plan}},
	}
}

func serviceType(namespace, plan string) *v1beta1.ServiceType {
	return &v1beta1.ServiceType{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "mysql"},
		Spec:       v1beta1.ServiceTypeSpec{DefaultPlanRef: &v1beta1.PlanObjectReference{Name: plan}},
	}
}

func create(object client.Object) func(context.Context, *house) error {
	return func(ctx context.Context, h *house) error { return h.Create(ctx, object) }
}

// update changes the stored object that has the name of at.
func update[T client.Object](at T, change func(T)) func(context.Context, *house) error {
	return func(ctx context.Context, h *house) error {
		if err := h.Get(ctx, client.ObjectKeyFromObject(at), at); err != nil {
			return err
		}
		change(at)
		return h.Update(ctx, at)
	}
}

func updatePlan(change func(*v1beta1.ClusterServicePlan)) func(context.Context, *house) error {
	return update(clusterPlan(""), change)
}

func join(lists ...[]string) []string { return slices.Concat(lists...) }
