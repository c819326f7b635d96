package instance

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// refuseSharing denies an invalid namespace selector that this write sets: it
// would silently select no namespace. Sharing requires no more than permission to
// write the instance, because users of other namespaces also need permission to
// bind, which its writer cannot grant.
func refuseSharing(was, sharing *v1beta1.Sharing) *review.Denial {
	if sharing == nil || equality.Semantic.DeepEqual(sharing, was) {
		return nil
	}
	_, err := metav1.LabelSelectorAsSelector(sharing.NamespaceSelector)
	if err == nil {
		return nil
	}
	return review.Invalid("InvalidSelector", "spec.sharing.namespaceSelector", "it selects no namespace: %s", err.Error()).
		Remedy("kubectl explain serviceinstance.spec.sharing.namespaceSelector")
}
