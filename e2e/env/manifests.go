package env

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// ManifestOf is a manifest of one of our kinds as a person writes it; in spec,
// NAME(base) stands for Name(base).
func (e *Env) ManifestOf(kind, name, spec string) string {
	return strings.Replace(e.Manifest(name, spec), "kind: ServiceInstance", "kind: "+kind, 1)
}

// volatile are words that differ from run to run.
var volatile = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// Normal is text without the suffix, the namespace and UUIDs: the same in every run.
func (e *Env) Normal(text string) string {
	text = strings.NewReplacer("-"+e.Suffix, "", e.Namespace, "NAMESPACE").Replace(text)
	return volatile.ReplaceAllString(text, "UUID")
}

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

// Spelled is text with Name(base) for NAME(base), and the namespace for NAMESPACE.
func (e *Env) Spelled(text string) string {
	_, spec, _ := strings.Cut(e.Manifest("", text), "spec: ")
	return strings.ReplaceAll(spec, "NAMESPACE", e.Namespace)
}

// Unwritten is an object that is not stored; its spec is YAML, as in Spelled.
func (e *Env) Unwritten(of Kind, name, spec string) *unstructured.Unstructured {
	e.Helper()
	content := map[string]any{}
	require.NoError(e, yaml.Unmarshal([]byte("spec: "+e.Spelled(spec)), &content))
	written := &unstructured.Unstructured{Object: content}
	written.SetGroupVersionKind(api.GroupVersion.WithKind(of.Name))
	written.SetName(name)
	if of.Namespaced {
		written.SetNamespace(e.Namespace)
	}
	return written
}

// Manifest is an instance as a person writes it; in spec, which is
// YAML, NAME(base) stands for Name(base).
func (e *Env) Manifest(name, spec string) string {
	for {
		before, rest, ok := strings.Cut(spec, "NAME(")
		if !ok {
			break
		}
		base, after, _ := strings.Cut(rest, ")")
		spec = before + e.Name(base) + after
	}
	return fmt.Sprintf("apiVersion: servicecatalog.k8s.io/v1beta1\nkind: ServiceInstance\nmetadata: {name: %s}\nspec: %s\n", name, spec)
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
