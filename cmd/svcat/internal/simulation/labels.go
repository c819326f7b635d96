package simulation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

// toldNamespaces is how many namespaces a sentence names.
const toldNamespaces = 10

const labelsUnknown = "whether %s %q holds in namespaces %s: it selects by labels, and the state does not have those of these namespaces; " +
	"it is simulated as if they had none"

// unlabelled says of policies that select namespaces by labels where it is not known whether they
// hold: the state may come from a user who may not list namespaces.
func unlabelled(c *comparison) []string {
	namespaces := withoutLabels(c)
	if len(namespaces) == 0 {
		return nil
	}
	var found []string
	for _, s := range []*side{c.now, c.then} {
		for _, kind := range []string{policy.KindProvisioning, policy.KindBinding} {
			for object := range s.Each(v1beta1.GroupVersion.WithKind(kind)) {
				doubted := doubtful(placesOf(object), namespaces)
				if len(doubted) == 0 {
					continue
				}
				text := fmt.Sprintf(labelsUnknown, kind, object.GetName(), named(doubted))
				if !slices.Contains(found, text) {
					found = append(found, text)
				}
			}
		}
	}
	return found
}

// withoutLabels are the namespaces that are asked about and that the state does not have.
func withoutLabels(c *comparison) []string {
	known := map[string]bool{}
	for _, s := range []*side{c.now, c.then} {
		for namespace := range s.Each(corev1.SchemeGroupVersion.WithKind("Namespace")) {
			known[namespace.GetName()] = true
		}
	}
	all := (&asked{comparison: c}).everywhere()
	return slices.DeleteFunc(all, func(namespace string) bool { return known[namespace] })
}

// placesOf are the namespaces of a policy as it names them.
func placesOf(object any) *v1beta1.PolicyNamespaces {
	switch o := object.(type) {
	case *v1beta1.ProvisioningPolicy:
		return o.Spec.Namespaces
	case *v1beta1.BindingPolicy:
		return o.Spec.Namespaces
	}
	return nil
}

// doubtful are those of the namespaces of which labels other than the name say whether they are
// selected.
func doubtful(of *v1beta1.PolicyNamespaces, namespaces []string) []string {
	if of == nil || of.Selector == nil {
		return nil
	}
	selector, err := metav1.LabelSelectorAsSelector(of.Selector)
	if err != nil {
		return nil // the policy has no effect
	}
	requirements, _ := selector.Requirements()
	return slices.DeleteFunc(slices.Clone(namespaces), func(namespace string) bool {
		return slices.Contains(of.Names, namespace) || !asksLabels(requirements, namespace)
	})
}

// asksLabels says whether requirements depend on labels of a namespace of which the name is known.
func asksLabels(requirements labels.Requirements, namespace string) bool {
	asks := false
	for i := range requirements {
		if requirements[i].Key() != corev1.LabelMetadataName {
			asks = true
			continue
		}
		if !requirements[i].Matches(labels.Set{corev1.LabelMetadataName: namespace}) {
			return false
		}
	}
	return asks
}

// named names the first of many.
func named(names []string) string {
	text := strings.Join(names[:min(len(names), toldNamespaces)], ", ")
	if more := len(names) - toldNamespaces; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
