package webhook

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// judgeSharing refuses a selector of namespaces that the write brings and that cannot
// be read: it would admit nobody, and nobody would be told. Who may share is who may
// write the instance: to open its credentials to others takes their right to bind
// besides, which is not the writer's to give.
func (v *instanceValidation) judgeSharing() {
	sharing, was := v.new.Spec.Sharing, (*v1beta1.Sharing)(nil)
	if v.old != nil {
		was = v.old.Spec.Sharing
	}
	if sharing == nil || equality.Semantic.DeepEqual(sharing, was) {
		return
	}
	if _, err := metav1.LabelSelectorAsSelector(sharing.NamespaceSelector); err != nil {
		v.deny(invalid("InvalidSelector", "spec.sharing.namespaceSelector", "it selects no namespace: %s", err.Error()).
			remedy("kubectl explain serviceinstance.spec.sharing.namespaceSelector"))
	}
}
