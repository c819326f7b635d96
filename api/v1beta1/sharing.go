package v1beta1

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Admits says that a namespace with these labels may bind to the instance. Absent
// sharing admits none, and neither does a selector that cannot be read.
func (s *Sharing) Admits(namespace string, of map[string]string) bool {
	if s == nil {
		return false
	}
	if slices.Contains(s.Namespaces, namespace) {
		return true
	}
	selects, err := metav1.LabelSelectorAsSelector(s.NamespaceSelector)
	return err == nil && selects.Matches(labels.Set(of))
}
