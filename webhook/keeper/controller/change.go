package controller

import (
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// alike says whether the difference of two versions of an object is irrelevant
// to every choice, and to whether admission allows it. It is for most updates:
// resyncs, statuses, descriptions.
func alike(before, after client.Object) bool {
	return apiequality.Semantic.DeepEqual(View(before), View(after))
}

// View is what admission reads of an object that others wait for.
func View(object client.Object) any {
	switch o := object.(type) {
	case v1beta1.ClassObject:
		return classView(resolve.ClassFrom(o), o.GetSpec())
	case v1beta1.PlanObject:
		return planView(resolve.PlanFrom(o), o.GetSpec())
	case v1beta1.TypeObject:
		return resolve.RecordFrom(o)
	case *v1beta1.ServiceInstance:
		return InstanceView{UID: o.UID, Labels: o.Labels, Deleting: o.DeletionTimestamp != nil, Decision: o.Spec.DecidedReference}
	case *v1beta1.ProvisioningPolicy:
		return o.Spec
	case *v1beta1.BindingPolicy:
		return o.Spec
	case *corev1.Namespace:
		return o.Labels
	}
	return nil
}

// An OfferingView is what admission reads of a class or plan. It includes more
// than a choice needs: defaults that violate the schema keep an object
// undecided, so a correction of them must touch it.
type OfferingView struct {
	Entry     any
	Bindable  *bool
	Defaults  v1beta1.Defaults
	Provision *runtime.RawExtension
	Bind      *runtime.RawExtension
}

func classView(entry resolve.ClassEntry, spec *v1beta1.CommonServiceClassSpec) OfferingView {
	return OfferingView{Entry: entry, Bindable: &spec.Bindable, Defaults: spec.Defaults}
}

func planView(entry resolve.PlanEntry, spec *v1beta1.CommonServicePlanSpec) OfferingView {
	return OfferingView{
		Entry: entry, Bindable: spec.Bindable, Defaults: spec.Defaults,
		Provision: spec.InstanceCreateParameterSchema, Bind: spec.ServiceBindingCreateParameterSchema,
	}
}

// An InstanceView is what admission reads of the instance of a binding.
type InstanceView struct {
	UID      types.UID
	Labels   map[string]string
	Deleting bool
	Decision v1beta1.DecidedReference
}
