package webhook

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// judgeSharing refuses a selector of namespaces that the write brings and that cannot
// be read: it would admit nobody, and nobody would be told. Who may share is who may
// write the instance: to open its credentials to others takes their right to bind
// besides, which is not the writer's to give.
func (v *instanceValidation) judgeSharing() {
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
