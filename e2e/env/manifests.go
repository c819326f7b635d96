package env

import (
	"strings"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// Nested is an object of so many levels.
func Nested(levels int) string {
	return strings.Repeat("{a: ", levels) + "1" + strings.Repeat("}", levels)
}

// A Kind is one of our kinds, for Unwritten.
type Kind struct {
	Name       string
	Namespaced bool
	// Base are members that every spec needs.
	Base string
}

// Local writes what is said of a cluster-scoped kind as it is said of the
// namespaced one.
var Local = strings.NewReplacer(
	"clusterServiceClassRef", "serviceClassRef", "clusterServiceBrokerName", "serviceBrokerName",
	"namespace: NAMESPACE, ", "", "spec.clusterServiceClass.name", "spec.serviceClass.name",
)

// Manifests are objects as a person writes them.
type Manifests struct {
	*Objects
	*Names
}

// Unwritten is an object that is not stored; its spec is YAML, as in Spelled.
func (m *Manifests) Unwritten(of Kind, name, spec string) *unstructured.Unstructured {
	m.Helper()
	content := map[string]any{}
	require.NoError(m, yaml.Unmarshal([]byte("spec: "+m.Spelled(spec)), &content))
	written := &unstructured.Unstructured{Object: content}
	written.SetGroupVersionKind(api.GroupVersion.WithKind(of.Name))
	written.SetName(name)
	if of.Namespaced {
		written.SetNamespace(m.Namespace)
	}
	return written
}

// Narrowed is what value has of the fields of by.
func Narrowed(value, by any) any {
	have, isObject := value.(map[string]any)
	wanted, wantsObject := by.(map[string]any)
	if !isObject || !wantsObject {
		return value
	}
	kept := map[string]any{}
	for key, inner := range wanted {
		if field, ok := have[key]; ok {
			kept[key] = Narrowed(field, inner)
		}
	}
	return kept
}
