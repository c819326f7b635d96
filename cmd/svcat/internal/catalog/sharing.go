package catalog

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// SharedWith are the namespaces besides its own that may bind to an instance, in words;
// empty where none may.
func SharedWith(sharing *v1beta1.Sharing) string {
	if sharing == nil {
		return ""
	}
	var who []string
	if len(sharing.Namespaces) > 0 {
		who = append(who, "namespaces "+strings.Join(sharing.Namespaces, ", "))
	}
	switch selector := sharing.NamespaceSelector; {
	case selector == nil:
	case len(selector.MatchLabels)+len(selector.MatchExpressions) == 0:
		who = append(who, "all namespaces")
	default:
		who = append(who, "namespaces with the labels "+metav1.FormatLabelSelector(selector))
	}
	return strings.Join(who, ", and ")
}
