package env

import (
	"encoding/json"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// An InstanceEdit changes an instance before it is created.
type InstanceEdit func(*api.ServiceInstance)

// Instance is an instance in the namespace, not yet created.
func (e *Env) Instance(name string, edits ...InstanceEdit) *api.ServiceInstance {
	instance := &api.ServiceInstance{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.GroupVersion.String(), Kind: "ServiceInstance"},
		ObjectMeta: e.Meta(name),
	}
	for _, edit := range edits {
		edit(instance)
	}
	return instance
}

// CreateInstance creates an instance and returns it as stored.
func (e *Env) CreateInstance(name string, edits ...InstanceEdit) *api.ServiceInstance {
	e.Helper()
	instance := e.Instance(name, edits...)
	e.Create(instance)
	return instance
}

// OfType asks for a type of service.
func OfType(serviceType string) InstanceEdit {
	return func(i *api.ServiceInstance) { i.Spec.ServiceType = serviceType }
}

// OfPlan names a class and a plan of the cluster by external name; an empty one is not
// named.
func OfPlan(class, plan string) InstanceEdit {
	return func(i *api.ServiceInstance) {
		i.Spec.ClusterServiceClassExternalName, i.Spec.ClusterServicePlanExternalName = class, plan
	}
}

// OfLocalPlan is OfPlan for a class and a plan of the namespace.
func OfLocalPlan(class, plan string) InstanceEdit {
	return func(i *api.ServiceInstance) {
		i.Spec.ServiceClassExternalName, i.Spec.ServicePlanExternalName = class, plan
	}
}

// WithSelector selects plans by labels.
func WithSelector(labels map[string]string) InstanceEdit {
	return func(i *api.ServiceInstance) { i.Spec.PlanSelector = &metav1.LabelSelector{MatchLabels: labels} }
}

// WithParameters sets spec.parameters to a JSON object; see RawJSON.
func WithParameters(text string) InstanceEdit {
	return func(i *api.ServiceInstance) { i.Spec.Parameters = RawJSON(text) }
}

// RawJSON is parameters; nil for an empty text.
func RawJSON(text string) *runtime.RawExtension {
	if text == "" {
		return nil
	}
	return &runtime.RawExtension{Raw: json.RawMessage(text)}
}

// PlanOf is the Kubernetes name of the plan that an instance refers to, empty for none.
func PlanOf(instance *api.ServiceInstance) string {
	if ref := instance.Spec.ClusterServicePlanRef; ref != nil {
		return ref.Name
	}
	if ref := instance.Spec.ServicePlanRef; ref != nil {
		return ref.Name
	}
	return ""
}

// ParametersOf is the JSON of an instance's parameters, empty for none.
func ParametersOf(instance *api.ServiceInstance) string {
	if instance.Spec.Parameters == nil {
		return ""
	}
	return string(instance.Spec.Parameters.Raw)
}

// AppliedTo is the record of what admission applied to an instance.
func (e *Env) AppliedTo(instance *api.ServiceInstance) api.AppliedDefaults {
	e.Helper()
	applied, err := api.ParseAppliedDefaults(instance.Annotations[api.AnnotationAppliedDefaults])
	require.NoError(e, err)
	return applied
}
