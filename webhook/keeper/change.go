package keeper

import (
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// alike says that a choice, and whether admission takes it, cannot depend on
// which of the two versions of an object of the catalog there is. Most updates
// are such: resyncs, statuses, descriptions.
func alike(before, after client.Object) bool {
	return apiequality.Semantic.DeepEqual(view(before), view(after))
}

// A catalogView is what admission looks at in a class, plan or type. That a
// choice reads more than resolve does is the merge's doing: defaults that the
// schema refuses keep an instance waiting, and mending them must wake it.
type catalogView struct {
	Entry    any
	Defaults *runtime.RawExtension
	Schema   *runtime.RawExtension
}

func view(object client.Object) catalogView {
	switch o := object.(type) {
	case *v1beta1.ClusterServiceClass:
		return catalogView{Entry: resolve.ClassFrom(o), Defaults: o.Spec.DefaultProvisionParameters}
	case *v1beta1.ServiceClass:
		return catalogView{Entry: resolve.ClassFrom(o), Defaults: o.Spec.DefaultProvisionParameters}
	case *v1beta1.ClusterServicePlan:
		return planView(resolve.PlanFrom(o), &o.Spec.CommonServicePlanSpec)
	case *v1beta1.ServicePlan:
		return planView(resolve.PlanFrom(o), &o.Spec.CommonServicePlanSpec)
	case *v1beta1.ClusterServiceType:
		return catalogView{Entry: resolve.RecordFrom(o)}
	case *v1beta1.ServiceType:
		return catalogView{Entry: resolve.RecordFrom(o)}
	}
	return catalogView{}
}

func planView(entry resolve.PlanEntry, spec *v1beta1.CommonServicePlanSpec) catalogView {
	return catalogView{Entry: entry, Defaults: spec.DefaultProvisionParameters, Schema: spec.InstanceCreateParameterSchema}
}

// renewed says that an instance that waits is another than before, so that the
// catalog may have what it now asks for. Its own write went through the hooks,
// but they may have answered before a plan was stored of which the event then
// found the old instance in the index, or none.
func renewed(before, after *v1beta1.ServiceInstance) bool {
	return waits(after) && (before.UID != after.UID || before.Generation != after.Generation)
}
