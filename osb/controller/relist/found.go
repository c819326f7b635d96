package relist

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// A found is a stored class or plan. It must not be changed: it may be the
// cache's own.
type found struct {
	client.Object

	kind                     Kind
	externalID, externalName string
	// broker is the broker of its own scope that it names, and copied the
	// ClusterServiceBroker that a namespace's object names instead.
	broker, copied string
	// class is the name of a plan's class.
	class       string
	serviceType string
	weight      int32
	defaults    *api.Defaults

	removed              bool
	costs                Costs
	freePlans, paidPlans int32
}

// see reads a class or plan; nil for any other object.
func see(object runtime.Object) *found {
	var f *found
	switch o := object.(type) {
	case api.ClassObject:
		f = seeClass(o)
	case api.PlanObject:
		f = seePlan(o)
	default:
		return nil
	}
	target := object.(api.OfferingObject).GetBroker() //nolint:forcetypeassert // both kinds are
	if f.broker = target.ClusterServiceBrokerName; f.GetNamespace() != "" {
		f.broker, f.copied = target.ServiceBrokerName, target.ClusterServiceBrokerName
	}
	return f
}

func seeClass(class api.ClassObject) *found {
	spec, status := class.GetSpec(), class.GetStatus()
	kind, _ := kindsOf(class.GetNamespace())
	return &found{
		Object: class, kind: kind, externalID: spec.ExternalID, externalName: spec.ExternalName, serviceType: spec.ServiceType, defaults: &spec.Defaults,
		removed: status.RemovedFromBrokerCatalog, freePlans: status.FreePlans, paidPlans: status.PaidPlans,
	}
}

func seePlan(plan api.PlanObject) *found {
	spec, status := plan.GetSpec(), plan.GetStatus()
	_, kind := kindsOf(plan.GetNamespace())
	return &found{
		Object: plan, kind: kind, externalID: spec.ExternalID, externalName: spec.ExternalName, serviceType: spec.ServiceType, weight: spec.Weight, defaults: &spec.Defaults,
		class: plan.GetClassName(), removed: status.RemovedFromBrokerCatalog, costs: Costs{status.Costs, status.MalformedCosts},
	}
}

// unmanaged says whether a user excluded the object from relists.
func (f *found) unmanaged() bool { return f.GetAnnotations()[api.AnnotationManaged] == no }

// controller is the broker that controls the object, in words, empty if there is
// none.
func (f *found) controller() string {
	if owner := metav1.GetControllerOfNoCopy(f); owner != nil {
		return owner.Kind + " " + owner.Name
	}
	return ""
}

// value is the stored value of a field that can be suggested, nil if it is
// absent.
func (f *found) value(at []string) any {
	var text string
	var there bool
	switch name := at[len(at)-1]; at[len(at)-2] {
	case inLabels:
		text, there = f.GetLabels()[name]
	case inAnnotations:
		text, there = f.GetAnnotations()[name]
	case inSpec:
		return f.specValue(name)
	}
	if !there {
		return nil
	}
	return text
}

func (f *found) specValue(name string) any {
	switch {
	case name == fieldServiceType && f.serviceType != "":
		return f.serviceType
	case name == fieldWeight && f.weight != 0:
		return int64(f.weight)
	case name == fieldProvisionParameters:
		return valueOf(f.defaults.DefaultProvisionParameters)
	case name == fieldBindParameters:
		return valueOf(f.defaults.DefaultBindParameters)
	case name == fieldSecretTransforms && len(f.defaults.DefaultSecretTransforms) > 0:
		return transformValues(f.defaults.DefaultSecretTransforms)
	}
	return nil
}

func valueOf(extension *runtime.RawExtension) any {
	if extension == nil {
		return nil
	}
	value, err := decode(extension.Raw)
	if err != nil {
		return json.RawMessage(nil)
	}
	return value
}
