package instance

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// validateSharing denies an invalid namespace selector that this write sets: it
// would silently select no namespace. Sharing requires no more than permission to
// write the instance, because users of other namespaces also need permission to
// bind, which its writer cannot grant.
func (v *Validation) validateSharing() {
	sharing, was := v.New.Spec.Sharing, (*v1beta1.Sharing)(nil)
	if v.Old != nil {
		was = v.Old.Spec.Sharing
	}
	if sharing == nil || equality.Semantic.DeepEqual(sharing, was) {
		return
	}
	if _, err := metav1.LabelSelectorAsSelector(sharing.NamespaceSelector); err != nil {
		v.Deny(review.Invalid("InvalidSelector", "spec.sharing.namespaceSelector", "it selects no namespace: %s", err.Error()).
			Remedy("kubectl explain serviceinstance.spec.sharing.namespaceSelector"))
	}
}
