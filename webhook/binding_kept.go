package webhook

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
)

type bindingSpec = v1beta1.ServiceBindingSpec

// fieldRotation is the one field that may change on a settled binding: it says
// when credentials are requested again, not which.
const fieldRotation = "rotation"

// keptBindingFields is the restore table of bindings: what an UPDATE that leaves a
// field out does not change. Once a binding is settled that is all of its spec,
// because a broker is asked for credentials once: the clients of the retired
// catalog replace the object by what they know of it, with nulls and empty
// strings, and must be able to. It is also the table of what a patch may set.
var keptBindingFields = []keptField[bindingSpec]{
	text("externalID", keptAlways, func(s *bindingSpec) *string { return &s.ExternalID }),
	text("secretName", keptAlways, func(s *bindingSpec) *string { return &s.SecretName }),

	text("serviceType", keptUnlessCleared, func(s *bindingSpec) *string { return &s.ServiceType }),
	text("serviceName", keptUnlessCleared, func(s *bindingSpec) *string { return &s.ServiceName }),
	object("planSelector", keptUnlessCleared, func(s *bindingSpec) **labelSelector { return &s.PlanSelector }),
	object("provisionParameters", keptUnlessCleared, func(s *bindingSpec) **runtime.RawExtension { return &s.ProvisionParameters }),
	object(fieldRotation, keptUnlessCleared, func(s *bindingSpec) **v1beta1.Rotation { return &s.Rotation }),
	{
		name: "secretTransformDefaults", when: keptUnlessCleared,
		value: func(s *bindingSpec) any { return unlessZero(s.SecretTransformDefaults) },
		copy:  func(to, from *bindingSpec) { to.SecretTransformDefaults = from.SecretTransformDefaults },
	},

	object("instanceRef", keptOnceDecided, func(s *bindingSpec) **v1beta1.InstanceReference { return &s.InstanceRef }),
	object("parameters", keptOnceDecided, func(s *bindingSpec) **runtime.RawExtension { return &s.Parameters }),
	items("parametersFrom", keptOnceDecided, func(s *bindingSpec) *[]v1beta1.ParametersFromSource { return &s.ParametersFrom }),
	items("endpointsFrom", keptOnceDecided, func(s *bindingSpec) *[]v1beta1.EndpointFrom { return &s.EndpointsFrom }),
	items("secretTransforms", keptOnceDecided, func(s *bindingSpec) *[]v1beta1.SecretTransform { return &s.SecretTransforms }),

	object("clusterServiceClassRef", keptOnceDecided, func(s *bindingSpec) **v1beta1.ClusterObjectReference { return &s.ClusterServiceClassRef }),
	object("clusterServicePlanRef", keptOnceDecided, func(s *bindingSpec) **v1beta1.ClusterObjectReference { return &s.ClusterServicePlanRef }),
	object("serviceClassRef", keptOnceDecided, func(s *bindingSpec) **v1beta1.LocalObjectReference { return &s.ServiceClassRef }),
	object("servicePlanRef", keptOnceDecided, func(s *bindingSpec) **v1beta1.LocalObjectReference { return &s.ServicePlanRef }),

	text("clusterServiceClassExternalName", keptOnceDecided, func(s *bindingSpec) *string { return &s.ClusterServiceClassExternalName }),
	text("clusterServiceClassExternalID", keptOnceDecided, func(s *bindingSpec) *string { return &s.ClusterServiceClassExternalID }),
	text("clusterServiceClassName", keptOnceDecided, func(s *bindingSpec) *string { return &s.ClusterServiceClassName }),
	text("serviceClassExternalName", keptOnceDecided, func(s *bindingSpec) *string { return &s.ServiceClassExternalName }),
	text("serviceClassExternalID", keptOnceDecided, func(s *bindingSpec) *string { return &s.ServiceClassExternalID }),
	text("serviceClassName", keptOnceDecided, func(s *bindingSpec) *string { return &s.ServiceClassName }),
	text("clusterServicePlanExternalName", keptOnceDecided, func(s *bindingSpec) *string { return &s.ClusterServicePlanExternalName }),
	text("clusterServicePlanExternalID", keptOnceDecided, func(s *bindingSpec) *string { return &s.ClusterServicePlanExternalID }),
	text("clusterServicePlanName", keptOnceDecided, func(s *bindingSpec) *string { return &s.ClusterServicePlanName }),
	text("servicePlanExternalName", keptOnceDecided, func(s *bindingSpec) *string { return &s.ServicePlanExternalName }),
	text("servicePlanExternalID", keptOnceDecided, func(s *bindingSpec) *string { return &s.ServicePlanExternalID }),
	text("servicePlanName", keptOnceDecided, func(s *bindingSpec) *string { return &s.ServicePlanName }),
}

func unlessZero[T comparable](value T) any {
	var zero T
	if value == zero {
		return nil
	}
	return value
}

// items is a kept field that is a list; an empty one is absent.
func items[S, T any](name string, when keeping, field func(*S) *[]T) keptField[S] {
	return keptField[S]{
		name: name, when: when,
		value: func(s *S) any {
			if all := *field(s); len(all) > 0 {
				return all
			}
			return nil
		},
		copy: func(to, from *S) { *field(to) = *field(from) },
	}
}

// restore puts back into m.spec what the write left out, and returns the names of
// the restored fields that a person may have meant to remove.
func (m *bindingMutation) restore() []string {
	settled := settledBinding(m.Old)
	m.restoreInstance()
	m.restoreNamespace()
	var told []string
	for _, field := range keptBindingFields {
		switch {
		case field.value(&m.spec) != nil, field.value(m.Old.Spec) == nil:
			continue
		case field.when == keptUnlessCleared && m.Writes(field.name),
			field.when >= keptOnceDecided && !settled:
			continue
		}
		field.copy(&m.spec, m.Old.Spec)
		if field.when != keptAlways {
			told = append(told, "spec."+field.name)
		}
	}
	if settled {
		m.restoreDefaults()
	}
	return told
}

// restoreDefaults puts back what defaults gave into parameters and transforms that
// lack just that: a manifest that is applied by replacement once more.
func (m *bindingMutation) restoreDefaults() {
	applied := appliedOf(m.Old.Metadata.Annotations)
	if len(applied.Transforms) == len(m.Old.Spec.SecretTransforms) {
		var own []v1beta1.SecretTransform
		for i, transform := range m.Old.Spec.SecretTransforms {
			if applied.Transforms[i] == layerUser {
				own = append(own, transform)
			}
		}
		if sameValue(own, m.spec.SecretTransforms) {
			m.spec.SecretTransforms = m.Old.Spec.SecretTransforms
		}
	}
	if onlyLacks(m.Old.Spec.Parameters, m.spec.Parameters, applied.From) {
		m.spec.Parameters = m.Old.Spec.Parameters
	}
	if own := applied.Provision; own != nil && onlyLacks(m.Old.Spec.ProvisionParameters, m.spec.ProvisionParameters, own.From) {
		m.spec.ProvisionParameters = m.Old.Spec.ProvisionParameters
	}
}

// onlyLacks says that given are the stored parameters without what defaults gave.
func onlyLacks(stored, given *runtime.RawExtension, from map[string]string) bool {
	rest, errStored := merge.Decode(rawOf(stored))
	now, errGiven := merge.Decode(rawOf(given))
	if errStored != nil || errGiven != nil || sameParameters(stored, given) {
		return false
	}
	for _, pointer := range slices.Sorted(maps.Keys(from)) {
		tokens := merge.Pointer(pointer).Tokens()
		if _, present := merge.Pointer(pointer).Get(rest); present && len(tokens) > 0 {
			rest = without(rest, tokens)
		}
	}
	return sameGiven(rest, now)
}

// sameGiven compares parameters without defaults to those that are given: objects
// that only defaults filled are empty there, and absent here.
func sameGiven(rest, given map[string]any) bool {
	return sameValue(pruned(rest), pruned(given))
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
