package e2e_test

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// A class describes a class of either scope.
type class struct {
	// namespace is empty for a cluster class.
	namespace string
	name      string
	// externalName and externalID are name if empty.
	externalName, externalID string
	// serviceType, labels and defaults (a JSON object) may be empty.
	serviceType string
	labels      map[string]string
	defaults    string
	// fixedPlan forbids instances to change their plan.
	fixedPlan bool
}

// object is the class as it is created.
func (c class) object() client.Object {
	meta := metav1.ObjectMeta{Namespace: c.namespace, Name: c.name, Labels: c.labels}
	spec := api.CommonServiceClassSpec{
		ExternalName: orElse(c.externalName, c.name), ExternalID: orElse(c.externalID, c.name), Description: "a class of a scenario",
		ServiceType: c.serviceType, Bindable: true, PlanUpdatable: !c.fixedPlan,
		Defaults: api.Defaults{DefaultProvisionParameters: rawJSON(c.defaults)},
	}
	if c.namespace == "" {
		return &api.ClusterServiceClass{ObjectMeta: meta, Spec: api.ClusterServiceClassSpec{CommonServiceClassSpec: spec, ClusterServiceBrokerName: "broker"}}
	}
	return &api.ServiceClass{ObjectMeta: meta, Spec: api.ServiceClassSpec{CommonServiceClassSpec: spec, ServiceBrokerName: "broker"}}
}

// A plan describes a plan of either scope.
type plan struct {
	// namespace is empty for a cluster plan.
	namespace string
	name      string
	// class is the Kubernetes name of its class, of the same scope.
	class string
	// externalName and externalID are name if empty.
	externalName, externalID string
	// serviceType, labels, defaults (a JSON object) and weight may be empty.
	serviceType string
	labels      map[string]string
	defaults    string
	weight      int32
	// isDefault and isSuggested annotate it.
	isDefault, isSuggested bool
	// updatable, if set, says whether it may be left for another plan.
	updatable *bool
	// schema is the JSON schema of parameters on create, updateSchema on update;
	// either may be empty.
	schema, updateSchema string
}

// object is the plan as it is created.
func (p plan) object() client.Object {
	meta := metav1.ObjectMeta{Namespace: p.namespace, Name: p.name, Labels: p.labels, Annotations: p.annotations()}
	spec := api.CommonServicePlanSpec{
		ExternalName: orElse(p.externalName, p.name), ExternalID: orElse(p.externalID, p.name), Description: "a plan of a scenario",
		ServiceType: p.serviceType, Weight: p.weight, PlanUpdatable: p.updatable,
		InstanceCreateParameterSchema: rawJSON(p.schema), InstanceUpdateParameterSchema: rawJSON(p.updateSchema),
		Defaults: api.Defaults{DefaultProvisionParameters: rawJSON(p.defaults)},
	}
	if p.namespace == "" {
		return &api.ClusterServicePlan{ObjectMeta: meta, Spec: api.ClusterServicePlanSpec{
			CommonServicePlanSpec: spec, ClusterServiceBrokerName: "broker",
			ClusterServiceClassRef: api.ClusterObjectReference{Name: p.class},
		}}
	}
	return &api.ServicePlan{ObjectMeta: meta, Spec: api.ServicePlanSpec{
		CommonServicePlanSpec: spec, ServiceBrokerName: "broker",
		ServiceClassRef: api.LocalObjectReference{Name: p.class},
	}}
}

func (p plan) annotations() map[string]string {
	annotations := map[string]string{}
	if p.isDefault {
		annotations[api.AnnotationDefaultPlan] = "true"
	}
	if p.isSuggested {
		annotations[api.AnnotationSuggestedPlan] = "true"
	}
	return annotations
}

// record is the recorded default plan of a type: cluster-wide if namespace is
// empty.
func record(namespace, serviceType, planName string) client.Object {
	meta := metav1.ObjectMeta{Namespace: namespace, Name: serviceType}
	spec := api.ServiceTypeSpec{DefaultPlanRef: &api.PlanObjectReference{Name: planName}}
	if namespace == "" {
		return &api.ClusterServiceType{ObjectMeta: meta, Spec: spec}
	}
	return &api.ServiceType{ObjectMeta: meta, Spec: spec}
}

// put creates an object. A type is patched if the keeper was faster: it makes one
// for every type in use.
func (w *world) put(object client.Object) error {
	err := w.client.Create(w.Context(), object)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	switch object.(type) {
	case *api.ClusterServiceType, *api.ServiceType:
		unrecorded := record(object.GetNamespace(), object.GetName(), "")
		return w.client.Patch(w.Context(), object, client.MergeFrom(unrecorded))
	}
	return err
}

// switchTo makes the plan the default of a type by one write of its record: no
// later choice by type believes another. The annotations are the keeper's to move.
func (w *world) switchTo(namespace, serviceType, planName string) {
	w.Helper()
	w.create(record(namespace, serviceType, planName))
}

// A described is a class or a plan.
type described interface{ object() client.Object }

// addCatalog creates classes and plans, in the order given.
func (w *world) addCatalog(items ...described) {
	w.Helper()
	for _, item := range items {
		w.create(item.object())
	}
}

// addPlans creates one class and its plans, of the same scope: each plan's class
// and namespace are filled in.
func (w *world) addPlans(of class, plans ...plan) {
	w.Helper()
	w.create(of.object())
	for _, p := range plans {
		p.class, p.namespace = of.name, of.namespace
		w.create(p.object())
	}
}

func orElse(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}
