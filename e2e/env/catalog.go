package env

import (
	"cmp"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// Offerings are classes, plans and types of either scope that need no broker.
type Offerings struct {
	*Objects
	*Names
}

// PatchPlan sends a merge patch to a cluster plan.
func (o *Offerings) PatchPlan(name, patch string) {
	o.Helper()
	o.Patch(Plan{Name: name}.Object(), patch)
}

// A Class describes a class of either scope.
type Class struct {
	// Namespace is empty for a cluster class.
	Namespace string
	Name      string
	// ExternalName and ExternalID are Name if empty.
	ExternalName, ExternalID string
	// ServiceType, Labels and Defaults (a JSON object) may be empty.
	ServiceType string
	Labels      map[string]string
	Defaults    string
	// FixedPlan forbids instances to change their plan.
	FixedPlan bool
}

// Object is the class as it is created.
func (c Class) Object() client.Object {
	meta := metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name, Labels: c.Labels}
	spec := api.CommonServiceClassSpec{
		ExternalName: cmp.Or(c.ExternalName, c.Name), ExternalID: cmp.Or(c.ExternalID, c.Name), Description: "a class of a scenario",
		ServiceType: c.ServiceType, Bindable: true, PlanUpdatable: !c.FixedPlan,
		Defaults: api.Defaults{DefaultProvisionParameters: RawJSON(c.Defaults)},
	}
	if c.Namespace == "" {
		return &api.ClusterServiceClass{ObjectMeta: meta, Spec: api.ClusterServiceClassSpec{CommonServiceClassSpec: spec, ClusterServiceBrokerName: "broker"}}
	}
	return &api.ServiceClass{ObjectMeta: meta, Spec: api.ServiceClassSpec{CommonServiceClassSpec: spec, ServiceBrokerName: "broker"}}
}

// A Plan describes a plan of either scope.
type Plan struct {
	// Namespace is empty for a cluster plan.
	Namespace string
	Name      string
	// Class is the Kubernetes name of its class, of the same scope.
	Class string
	// ExternalName and ExternalID are Name if empty.
	ExternalName, ExternalID string
	// ServiceType, Labels, Defaults (a JSON object) and Weight may be empty.
	ServiceType string
	Labels      map[string]string
	Defaults    string
	Weight      int32
	// Default and Suggested annotate it.
	Default, Suggested bool
	// Updatable, if set, says whether it may be left for another plan.
	Updatable *bool
	// Schema is the JSON schema of parameters on create, UpdateSchema on update;
	// either may be empty.
	Schema, UpdateSchema string
}

// Object is the plan as it is created.
func (p Plan) Object() client.Object {
	meta := metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, Labels: p.Labels, Annotations: p.annotations()}
	spec := api.CommonServicePlanSpec{
		ExternalName: cmp.Or(p.ExternalName, p.Name), ExternalID: cmp.Or(p.ExternalID, p.Name), Description: "a plan of a scenario",
		ServiceType: p.ServiceType, Weight: p.Weight, PlanUpdatable: p.Updatable,
		InstanceCreateParameterSchema: RawJSON(p.Schema), InstanceUpdateParameterSchema: RawJSON(p.UpdateSchema),
		Defaults: api.Defaults{DefaultProvisionParameters: RawJSON(p.Defaults)},
	}
	if p.Namespace == "" {
		return &api.ClusterServicePlan{ObjectMeta: meta, Spec: api.ClusterServicePlanSpec{
			CommonServicePlanSpec: spec, ClusterServiceBrokerName: "broker",
			ClusterServiceClassRef: api.ClusterObjectReference{Name: p.Class},
		}}
	}
	return &api.ServicePlan{ObjectMeta: meta, Spec: api.ServicePlanSpec{
		CommonServicePlanSpec: spec, ServiceBrokerName: "broker",
		ServiceClassRef: api.LocalObjectReference{Name: p.Class},
	}}
}

func (p Plan) annotations() map[string]string {
	annotations := map[string]string{}
	if p.Default {
		annotations[api.AnnotationDefaultPlan] = "true"
	}
	if p.Suggested {
		annotations[api.AnnotationSuggestedPlan] = "true"
	}
	return annotations
}

// TypeWithDefault is the recorded default plan of a type: cluster-wide if namespace is
// empty.
func TypeWithDefault(namespace, serviceType, planName string) client.Object {
	meta := metav1.ObjectMeta{Namespace: namespace, Name: serviceType}
	spec := api.ServiceTypeSpec{DefaultPlanRef: &api.PlanObjectReference{Name: planName}}
	if namespace == "" {
		return &api.ClusterServiceType{ObjectMeta: meta, Spec: spec}
	}
	return &api.ServiceType{ObjectMeta: meta, Spec: spec}
}

// SwitchTo makes the plan the default of a type by one write of its record: no
// later choice by type believes another. The annotations are the keeper's to move.
func (o *Offerings) SwitchTo(namespace, serviceType, planName string) {
	o.Helper()
	o.Create(TypeWithDefault(namespace, serviceType, planName))
}

// A Described is a class or a plan.
type Described interface{ Object() client.Object }

// AddCatalog creates classes and plans, in the order given.
func (o *Offerings) AddCatalog(items ...Described) {
	o.Helper()
	for _, item := range items {
		o.Create(item.Object())
	}
}

// AddPlans creates one class and its plans, of the same scope: each plan's class
// and namespace are filled in.
func (o *Offerings) AddPlans(of Class, plans ...Plan) {
	o.Helper()
	o.Create(of.Object())
	for _, p := range plans {
		p.Class, p.Namespace = of.Name, of.Namespace
		o.Create(p.Object())
	}
}

// RecordedDefault is the plan in a type's record, "" for none.
func (o *Offerings) RecordedDefault(namespace, serviceType string) (string, error) {
	o.Helper()
	object := TypeWithDefault(namespace, serviceType, "")
	if err := o.Client().Get(o.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		return "", err
	}
	var ref *api.PlanObjectReference
	switch found := object.(type) {
	case *api.ClusterServiceType:
		ref = found.Spec.DefaultPlanRef
	case *api.ServiceType:
		ref = found.Spec.DefaultPlanRef
	}
	if ref == nil {
		return "", nil
	}
	return ref.Name, nil
}

// Bindable is a class and a plan that name("c") and name("p") name, with defaults
// for bindings.
func (o *Offerings) Bindable() []client.Object {
	o.Helper()
	offered, ok := Plan{Name: o.Name("p"), Class: o.Name("c"), ServiceType: o.Name("db"), Default: true}.Object().(*api.ClusterServicePlan)
	require.True(o, ok)
	offered.Spec.DefaultBindParameters = RawJSON(`{"user":"reader","tls":true}`)
	offered.Spec.DefaultSecretTransforms = []api.SecretTransform{{RenameKey: &api.RenameKeyTransform{From: "db-name", To: "database"}}}
	return []client.Object{Class{Name: o.Name("c"), ServiceType: o.Name("db")}.Object(), offered}
}
