package explain

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/resolve"
)

// ruleRestored is the rule of an object that came with its references, and
// ruleInstance that of a binding: the plan is its instance's.
const (
	ruleRestored = "restored"
	ruleInstance = "instance"
)

// appliedOf is what admission wrote down of an object; an unreadable text says
// nothing.
func appliedOf(meta *metav1.ObjectMeta) v1beta1.AppliedDefaults {
	applied, _ := v1beta1.ParseAppliedDefaults(meta.Annotations[v1beta1.AnnotationAppliedDefaults])
	return applied
}

// originalInstance is a stored instance as its user wrote it: without what
// admission and the controller added.
func originalInstance(stored *v1beta1.ServiceInstance) *v1beta1.ServiceInstance {
	applied := appliedOf(&stored.ObjectMeta)
	asked := &v1beta1.ServiceInstance{ObjectMeta: originalMeta(&stored.ObjectMeta)}
	stored.Spec.DeepCopyInto(&asked.Spec)
	asked.Spec.DecidedReference = v1beta1.DecidedReference{}
	asked.Spec.UserInfo, asked.Spec.UpdateRequests = nil, 0
	if minted(&stored.ObjectMeta, stored.Spec.ExternalID) {
		asked.Spec.ExternalID = ""
	}
	asked.Spec.Parameters = originalParameters(stored.Spec.Parameters, &applied)
	originalNames(&asked.Spec.PlanReference, &applied)
	return asked
}

// originalNames takes away the plan that admission named of a request that named a
// class only.
func originalNames(ref *v1beta1.PlanReference, applied *v1beta1.AppliedDefaults) {
	switch resolve.Rule(applied.Rule) {
	case resolve.RuleOnlyPlan, resolve.RuleClassDefault, resolve.RuleClassSuggested:
		ref.ClusterServicePlanExternalName, ref.ClusterServicePlanExternalID, ref.ClusterServicePlanName = "", "", ""
		ref.ServicePlanExternalName, ref.ServicePlanExternalID, ref.ServicePlanName = "", "", ""
	default:
	}
}

// originalBinding is as originalInstance.
func originalBinding(stored *v1beta1.ServiceBinding) *v1beta1.ServiceBinding {
	applied := appliedOf(&stored.ObjectMeta)
	asked := &v1beta1.ServiceBinding{ObjectMeta: originalMeta(&stored.ObjectMeta)}
	stored.Spec.DeepCopyInto(&asked.Spec)
	asked.Spec.DecidedReference = v1beta1.DecidedReference{}
	asked.Spec.UserInfo = nil
	if stored.Spec.Decided() && !stored.Dedicated() {
		// It is the plan's, even if a user wrote it: admission fills it in.
		asked.Spec.ServiceType = ""
	}
	if minted(&stored.ObjectMeta, stored.Spec.ExternalID) {
		asked.Spec.ExternalID = ""
	}
	asked.Spec.Parameters = originalParameters(stored.Spec.Parameters, &applied)
	own := applied.OfInstance()
	asked.Spec.ProvisionParameters = originalParameters(stored.Spec.ProvisionParameters, &own)
	originalNames(&asked.Spec.PlanReference, &applied)
	asked.Spec.SecretTransforms = nil
	for i, transform := range stored.Spec.SecretTransforms {
		if originOf(&applied, i) == layerUser {
			asked.Spec.SecretTransforms = append(asked.Spec.SecretTransforms, transform)
		}
	}
	return asked
}

// minted says that admission made the object's ID. Any other the user chose.
func minted(meta *metav1.ObjectMeta, id string) bool {
	return meta.Annotations[v1beta1.AnnotationMintedExternalID] == id
}

// originalMeta is what of an object's metadata policies and selectors go by.
func originalMeta(stored *metav1.ObjectMeta) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Namespace: stored.Namespace, Name: stored.Name, Labels: stored.Labels}
	meta.Annotations = maps.Clone(stored.Annotations)
	delete(meta.Annotations, v1beta1.AnnotationAppliedDefaults)
	delete(meta.Annotations, v1beta1.AnnotationMintedExternalID)
	return meta
}

// originOf is the layer that gave a binding's transform.
func originOf(applied *v1beta1.AppliedDefaults, i int) string {
	if i < len(applied.Transforms) {
		return applied.Transforms[i]
	}
	return layerUser
}

// originalParameters are those that the user wrote. What cannot be read stays as
// it is: admission says best what is wrong.
func originalParameters(stored *runtime.RawExtension, applied *v1beta1.AppliedDefaults) *runtime.RawExtension {
	if stored == nil || len(applied.From) == 0 {
		return stored
	}
	values, err := merge.Decode(stored.Raw)
	if err != nil {
		return stored
	}
	user := split(values, applied.From)[layerUser]
	if len(user) == 0 {
		return nil
	}
	text, err := merge.Canonical(user)
	if err != nil {
		return stored
	}
	return &runtime.RawExtension{Raw: text}
}

// split takes parameters apart into the layers that gave them; what no layer is on
// record for is the user's.
func split(values map[string]any, from map[string]string) map[string]map[string]any {
	layers := map[string]map[string]any{layerClass: {}, layerPlan: {}}
	for _, pointer := range slices.Sorted(maps.Keys(from)) {
		layer, known := layers[from[pointer]]
		tokens := merge.Pointer(pointer).Tokens()
		value, present := merge.Pointer(pointer).Get(values)
		if !known || !present || len(tokens) == 0 {
			continue
		}
		merge.Set(layer, tokens, value)
		values = lacking(values, tokens)
	}
	layers[layerUser] = values
	return layers
}

// lacking is a copy of an object that lacks the value at a path, and the objects
// on the way that are empty without it.
func lacking(values map[string]any, path []string) map[string]any {
	kept := maps.Clone(values)
	if len(path) == 1 {
		delete(kept, path[0])
		return kept
	}
	next, ok := kept[path[0]].(map[string]any)
	if !ok {
		return kept
	}
	if next = lacking(next, path[1:]); len(next) == 0 {
		delete(kept, path[0])
		return kept
	}
	kept[path[0]] = next
	return kept
}
