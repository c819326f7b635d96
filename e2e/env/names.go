package env

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Names are the namespace of a test, and names that no other test has.
type Names struct {
	// Namespace exists. It is where objects are, unless something else is said.
	Namespace string
	// Suffix is part of the names that no other test has: a DNS label of letters and
	// digits.
	Suffix string
}

// Name makes a name unique, for objects of the cluster and names at brokers.
func (n *Names) Name(base string) string { return base + "-" + n.Suffix }

// Meta is that of an object in the namespace.
func (n *Names) Meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: n.Namespace, Name: name}
}

// Secret is one in the namespace, not read yet.
func (n *Names) Secret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: n.Meta(name)}
}

func (n *Names) inNamespace(args []string) []string {
	return append([]string{"-n", n.Namespace}, args...)
}

// ManifestOf is a manifest of one of our kinds as a person writes it; in spec,
// NAME(base) stands for Name(base).
func (n *Names) ManifestOf(kind, name, spec string) string {
	return strings.Replace(n.Manifest(name, spec), "kind: ServiceInstance", "kind: "+kind, 1)
}

// volatile are words that differ from run to run.
var volatile = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// Normal is text without the suffix, the namespace and UUIDs: the same in every run.
func (n *Names) Normal(text string) string {
	text = strings.NewReplacer("-"+n.Suffix, "", n.Namespace, "NAMESPACE").Replace(text)
	return volatile.ReplaceAllString(text, "UUID")
}

// Spelled is text with Name(base) for NAME(base), and the namespace for NAMESPACE.
func (n *Names) Spelled(text string) string {
	_, spec, _ := strings.Cut(n.Manifest("", text), "spec: ")
	return strings.ReplaceAll(spec, "NAMESPACE", n.Namespace)
}

// Manifest is an instance as a person writes it; in spec, which is
// YAML, NAME(base) stands for Name(base).
func (n *Names) Manifest(name, spec string) string {
	for {
		before, rest, ok := strings.Cut(spec, "NAME(")
		if !ok {
			break
		}
		base, after, _ := strings.Cut(rest, ")")
		spec = before + n.Name(base) + after
	}
	return fmt.Sprintf("apiVersion: servicecatalog.k8s.io/v1beta1\nkind: ServiceInstance\nmetadata: {name: %s}\nspec: %s\n", name, spec)
}
