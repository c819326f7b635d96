package env

import (
	"crypto/rand"
	"encoding/json"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// Instances are ServiceInstances of the namespace.
type Instances struct {
	*Objects
	*Names
}

// An InstanceEdit changes an instance before it is created.
type InstanceEdit func(*api.ServiceInstance)

// Instance is an instance in the namespace, not yet created.
func (i *Instances) Instance(name string, edits ...InstanceEdit) *api.ServiceInstance {
	instance := &api.ServiceInstance{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.GroupVersion.String(), Kind: "ServiceInstance"},
		ObjectMeta: i.Meta(name),
	}
	for _, edit := range edits {
		edit(instance)
	}
	return instance
}

// CreateInstance creates an instance and returns it as stored.
func (i *Instances) CreateInstance(name string, edits ...InstanceEdit) *api.ServiceInstance {
	i.Helper()
	instance := i.Instance(name, edits...)
	i.Create(instance)
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

// Ambiguous waits until a request by type is refused between two suggestions, of which the first is the
// older one. Until then a replica whose cache lacks the second chooses the first.
func (i *Instances) Ambiguous(asked InstanceEdit, first, second string) {
	i.Helper()
	var err error
	i.Eventually(func() (bool, error) {
		trial := i.Instance("trial", asked)
		if err = i.Client().Create(i.Context(), trial, client.DryRunAll); err != nil {
			return true, nil //nolint:nilerr // it is judged below
		}
		require.Equal(i, first, PlanOf(trial), "an ambiguous request is never admitted undecided")
		return false, nil
	})
	RequireInvalid(i.T, err, first)
	RequireInvalid(i.T, err, second)
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
func (i *Instances) AppliedTo(instance *api.ServiceInstance) api.AppliedDefaults {
	i.Helper()
	return i.AppliedOn(instance.Annotations)
}

// PatchInstance sends a merge patch to the instance of that name.
func (i *Instances) PatchInstance(name, patch string) error {
	i.Helper()
	return i.TryPatch(i.Instance(name), patch)
}

// AppliedOn is the record of what admission applied to an object.
func (i *Instances) AppliedOn(annotations map[string]string) api.AppliedDefaults {
	i.Helper()
	applied, err := api.ParseAppliedDefaults(annotations[api.AnnotationAppliedDefaults])
	require.NoError(i, err)
	return applied
}

// WithExternalID gives an ID that no other instance has: two are refused.
func WithExternalID(i *api.ServiceInstance) { i.Spec.ExternalID = rand.Text() }

// Stored is the instance of that name, as it is stored.
func (i *Instances) Stored(name string) *api.ServiceInstance {
	i.Helper()
	instance := i.Instance(name)
	i.Get(instance)
	return instance
}

// HoldFinalizer is the finalizer of some other controller: it keeps a deleted object.
const HoldFinalizer = "example.org/hold"

// WithFinalizer adds a finalizer.
func WithFinalizer(name string) InstanceEdit {
	return func(i *api.ServiceInstance) { i.Finalizers = append(i.Finalizers, name) }
}

// InstanceDecided waits until the instance is decided.
func (i *Instances) InstanceDecided(name string) *api.ServiceInstance {
	i.Helper()
	instance := i.Instance(name)
	i.Eventually(func() (bool, error) {
		err := i.Client().Get(i.Context(), client.ObjectKeyFromObject(instance), instance)
		return instance.Spec.Decided(), err
	})
	return instance
}

// DeniedSoon waits until a policy denies such an instance.
func (i *Instances) DeniedSoon(asked InstanceEdit) {
	i.Helper()
	i.Eventually(func() (bool, error) {
		err := i.Client().Create(i.Context(), i.Instance("trial", asked), client.DryRunAll)
		return apierrors.IsForbidden(err), nil
	})
}
