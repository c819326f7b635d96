package moving

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// SecretOf is the Secret of a binding's credentials.
func SecretOf(binding *v1beta1.ServiceBinding) types.NamespacedName {
	return types.NamespacedName{Namespace: binding.Namespace, Name: cmp.Or(binding.Spec.SecretName, binding.Name)}
}

// Keys of the Secrets with which a broker is called.
var (
	basicKeys  = []string{"username", "password"}
	bearerKeys = []string{"token"}
)

// AuthSecret is the Secret with which a broker is called, and the keys that it has; no keys: the
// broker is called without.
func AuthSecret(broker v1beta1.BrokerObject) (types.NamespacedName, []string) {
	switch basic, bearer := broker.GetAuthSecrets(); {
	case basic.Name != "":
		return basic, basicKeys
	case bearer.Name != "":
		return bearer, bearerKeys
	}
	return types.NamespacedName{}, nil
}

// ParameterSecrets are the Secrets that parametersFrom names, with their keys.
func ParameterSecrets(from []v1beta1.ParametersFromSource, namespace string) map[types.NamespacedName][]string {
	found := map[types.NamespacedName][]string{}
	for _, source := range from {
		if ref := source.SecretKeyRef; ref != nil {
			key := types.NamespacedName{Namespace: namespace, Name: ref.Name}
			found[key] = append(found[key], ref.Key)
		}
	}
	return found
}

// TransformSecrets are the Secrets whose keys a binding adds.
func TransformSecrets(binding *v1beta1.ServiceBinding) []types.NamespacedName {
	var found []types.NamespacedName
	for _, transform := range binding.Spec.SecretTransforms {
		if from := transform.AddKeysFrom; from != nil && from.SecretRef != nil {
			found = append(found, types.NamespacedName{Namespace: cmp.Or(from.SecretRef.Namespace, binding.Namespace), Name: from.SecretRef.Name})
		}
	}
	return found
}

// SecretsOf are the Secrets that the objects of a file use, sorted.
func SecretsOf(contents *Contents) []SecretUse {
	uses := uses{}
	for _, broker := range contents.Brokers {
		if key, keys := AuthSecret(broker); len(keys) > 0 {
			uses.add(key, broker, keys...)
		}
	}
	for _, instance := range contents.Instances {
		for key, keys := range ParameterSecrets(instance.Spec.ParametersFrom, instance.Namespace) {
			uses.add(key, instance, keys...)
		}
	}
	for _, binding := range contents.Bindings {
		uses.add(SecretOf(binding), binding)
		for key, keys := range ParameterSecrets(binding.Spec.ParametersFrom, binding.Namespace) {
			uses.add(key, binding, keys...)
		}
		for _, key := range TransformSecrets(binding) {
			uses.add(key, binding)
		}
	}
	return uses.sorted()
}

// uses collects what is used of which Secret.
type uses map[types.NamespacedName]*SecretUse

// add notes that an object uses keys of a Secret; without keys, all of it. The keys are put in order
// at the end: thousands of objects may use one Secret, each another key.
func (u uses) add(key types.NamespacedName, by client.Object, keys ...string) {
	use := u[key]
	if use == nil {
		use = &SecretUse{Namespace: key.Namespace, Name: key.Name, Keys: []string{}}
		u[key] = use
	}
	if len(keys) == 0 || use.Keys == nil {
		use.Keys = nil // once all of it is used, it stays so
	} else {
		use.Keys = append(use.Keys, keys...)
	}
	use.UsedBy = append(use.UsedBy, Title(by))
}

func (u uses) sorted() []SecretUse {
	all := make([]SecretUse, 0, len(u))
	for _, use := range u {
		slices.Sort(use.UsedBy)
		slices.Sort(use.Keys)
		use.Keys = slices.Compact(use.Keys)
		all = append(all, *use)
	}
	slices.SortFunc(all, func(a, b SecretUse) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// StripSecret is a Secret as a file carries it: the keys that are used, or all if none is named,
// and how long credentials hold.
func StripSecret(secret *corev1.Secret, keys []string) *corev1.Secret {
	stripped := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: secret.Namespace, Name: secret.Name, Annotations: maps.Clone(secret.Annotations)},
		Type:       secret.Type, Data: maps.Clone(secret.Data),
	}
	if len(keys) > 0 {
		used := make(map[string]bool, len(keys))
		for _, key := range keys {
			used[key] = true
		}
		maps.DeleteFunc(stripped.Data, func(key string, _ []byte) bool { return !used[key] })
	}
	maps.DeleteFunc(stripped.Annotations, func(key, _ string) bool { return !timesOfCredentials[key] })
	return stripped
}

// timesOfCredentials are the annotations of a Secret that say how long its credentials hold.
var timesOfCredentials = map[string]bool{
	v1beta1.AnnotationIssuedAt: true, v1beta1.AnnotationExpiresAt: true, v1beta1.AnnotationRenewBefore: true,
}
