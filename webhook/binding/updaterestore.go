package binding

import (
	"cmp"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/restore"
)

type bindingSpec = v1beta1.ServiceBindingSpec

// fieldRotation is the one field that may change on a settled binding: it says
// when credentials are requested again, not which.
const fieldRotation = "rotation"

// keptFields is the restore table of bindings: what an UPDATE that leaves a
// field out does not change. Once a binding is settled that is all of its spec,
// because a broker is asked for credentials once: the clients of the retired
// catalog replace the object by what they know of it, with nulls and empty
// strings, and must be able to.
var keptFields = []restore.Field[bindingSpec]{
	restore.Text("externalID", restore.Always, func(s *bindingSpec) *string { return &s.ExternalID }),
	restore.Text("secretName", restore.Always, func(s *bindingSpec) *string { return &s.SecretName }),

	restore.Text("serviceType", restore.UnlessCleared, func(s *bindingSpec) *string { return &s.ServiceType }),
	restore.Text("serviceName", restore.UnlessCleared, func(s *bindingSpec) *string { return &s.ServiceName }),
	restore.Object("planSelector", restore.UnlessCleared, func(s *bindingSpec) **metav1.LabelSelector { return &s.PlanSelector }),
	restore.Object("provisionParameters", restore.UnlessCleared, func(s *bindingSpec) **runtime.RawExtension { return &s.ProvisionParameters }),
	restore.Object(fieldRotation, restore.UnlessCleared, func(s *bindingSpec) **v1beta1.Rotation { return &s.Rotation }),
	{
		Name: "secretTransformDefaults", When: restore.UnlessCleared,
		Value: func(s *bindingSpec) any { return restore.UnlessZero(s.SecretTransformDefaults) },
		Copy:  func(to, from *bindingSpec) { to.SecretTransformDefaults = from.SecretTransformDefaults },
	},

	restore.Object("instanceRef", restore.OnceDecided, func(s *bindingSpec) **v1beta1.InstanceReference { return &s.InstanceRef }),
	restore.Object("parameters", restore.OnceDecided, func(s *bindingSpec) **runtime.RawExtension { return &s.Parameters }),
	restore.Items("parametersFrom", restore.OnceDecided, func(s *bindingSpec) *[]v1beta1.ParametersFromSource { return &s.ParametersFrom }),
	restore.Items("endpointsFrom", restore.OnceDecided, func(s *bindingSpec) *[]v1beta1.EndpointFrom { return &s.EndpointsFrom }),
	restore.Items("secretTransforms", restore.OnceDecided, func(s *bindingSpec) *[]v1beta1.SecretTransform { return &s.SecretTransforms }),

	restore.Object("clusterServiceClassRef", restore.OnceDecided, func(s *bindingSpec) **v1beta1.ClusterObjectReference { return &s.ClusterServiceClassRef }),
	restore.Object("clusterServicePlanRef", restore.OnceDecided, func(s *bindingSpec) **v1beta1.ClusterObjectReference { return &s.ClusterServicePlanRef }),
	restore.Object("serviceClassRef", restore.OnceDecided, func(s *bindingSpec) **v1beta1.LocalObjectReference { return &s.ServiceClassRef }),
	restore.Object("servicePlanRef", restore.OnceDecided, func(s *bindingSpec) **v1beta1.LocalObjectReference { return &s.ServicePlanRef }),

	restore.Text("clusterServiceClassExternalName", restore.OnceDecided, func(s *bindingSpec) *string { return &s.ClusterServiceClassExternalName }),
	restore.Text("clusterServiceClassExternalID", restore.OnceDecided, func(s *bindingSpec) *string { return &s.ClusterServiceClassExternalID }),
	restore.Text("clusterServiceClassName", restore.OnceDecided, func(s *bindingSpec) *string { return &s.ClusterServiceClassName }),
	restore.Text("serviceClassExternalName", restore.OnceDecided, func(s *bindingSpec) *string { return &s.ServiceClassExternalName }),
	restore.Text("serviceClassExternalID", restore.OnceDecided, func(s *bindingSpec) *string { return &s.ServiceClassExternalID }),
	restore.Text("serviceClassName", restore.OnceDecided, func(s *bindingSpec) *string { return &s.ServiceClassName }),
	restore.Text("clusterServicePlanExternalName", restore.OnceDecided, func(s *bindingSpec) *string { return &s.ClusterServicePlanExternalName }),
	restore.Text("clusterServicePlanExternalID", restore.OnceDecided, func(s *bindingSpec) *string { return &s.ClusterServicePlanExternalID }),
	restore.Text("clusterServicePlanName", restore.OnceDecided, func(s *bindingSpec) *string { return &s.ClusterServicePlanName }),
	restore.Text("servicePlanExternalName", restore.OnceDecided, func(s *bindingSpec) *string { return &s.ServicePlanExternalName }),
	restore.Text("servicePlanExternalID", restore.OnceDecided, func(s *bindingSpec) *string { return &s.ServicePlanExternalID }),
	restore.Text("servicePlanName", restore.OnceDecided, func(s *bindingSpec) *string { return &s.ServicePlanName }),
}

// patchedFields are what a patch may set in spec.
var patchedFields = append(slices.Clip(keptFields), restore.Object("userInfo", restore.Always, func(s *bindingSpec) **v1beta1.UserInfo { return &s.UserInfo }))

// keepFields puts back into spec what the write left out, and returns the names of
// the restored fields that a person may have meant to remove.
func keepFields(spec *bindingSpec, w *write) []string {
	settled := settledBinding(w.Old)
	spec.InstanceRef = keepInstance(w.Old.Spec.InstanceRef, spec.InstanceRef)
	meant := restore.Keep(keptFields, spec, w.Old.Spec, func(field *restore.Field[bindingSpec]) bool {
		return field.When == restore.UnlessCleared && w.Writes(field.Name) || field.When >= restore.OnceDecided && !settled
	})
	if settled {
		keepDefaults(spec, w.Old.Spec, parameters.Applied(w.Old.Metadata.Annotations))
	}
	return meant
}

// keepInstance is the reference of a write, with what clients of the retired catalog do not know.
// They cannot omit a reference, and so write an empty one on a binding that gets a dedicated
// instance; and they do not know its namespace.
func keepInstance(was, now *v1beta1.InstanceReference) *v1beta1.InstanceReference {
	switch {
	case now != nil && *now == (v1beta1.InstanceReference{}):
		return was
	case was == nil, now == nil, was.Name != now.Name:
		return now
	}
	return &v1beta1.InstanceReference{Name: now.Name, Namespace: cmp.Or(now.Namespace, was.Namespace)}
}

// keepDefaults puts back what defaults gave into parameters and transforms that
// lack just that: a manifest that is applied by replacement once more. applied is their record.
func keepDefaults(spec, old *bindingSpec, applied v1beta1.AppliedDefaults) {
	if len(applied.Transforms) == len(old.SecretTransforms) {
		var own []v1beta1.SecretTransform
		for i, transform := range old.SecretTransforms {
			if applied.Transforms[i] == parameters.LayerUser {
				own = append(own, transform)
			}
		}
		if reflect.DeepEqual(own, spec.SecretTransforms) {
			spec.SecretTransforms = old.SecretTransforms
		}
	}
	if onlyLacks(old.Parameters, spec.Parameters, applied.From) {
		spec.Parameters = old.Parameters
	}
	if own := applied.Provision; own != nil && onlyLacks(old.ProvisionParameters, spec.ProvisionParameters, own.From) {
		spec.ProvisionParameters = old.ProvisionParameters
	}
}

// onlyLacks says that given are the stored parameters without what defaults gave.
func onlyLacks(stored, given *runtime.RawExtension, from map[string]string) bool {
	rest, errStored := merge.Decode(parameters.Raw(stored))
	now, errGiven := merge.Decode(parameters.Raw(given))
	if errStored != nil || errGiven != nil || parameters.Same(stored, given) {
		return false
	}
	var defaulted []merge.Pointer
	for pointer := range from {
		defaulted = append(defaulted, merge.Pointer(pointer))
	}
	return sameGiven(merge.Omit(rest, defaulted), now)
}

// sameGiven compares parameters without defaults to those that are given: objects
// that only defaults filled are empty there, and absent here.
func sameGiven(rest, given map[string]any) bool {
	return reflect.DeepEqual(pruned(rest), pruned(given))
}

// pruned is a copy of an object without its empty objects, however deep.
func pruned(values map[string]any) map[string]any {
	kept := map[string]any{}
	for key, value := range values {
		if below, ok := value.(map[string]any); ok {
			below = pruned(below)
			if len(below) == 0 {
				continue
			}
			kept[key] = below
			continue
		}
		kept[key] = value
	}
	return kept
}
