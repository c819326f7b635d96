package instance

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/webhook/review"
)

// refuseChanges denies changes of immutable fields.
func refuseChanges(w *Write) *review.Denial {
	var denied *review.Denial
	old, spec := w.Old.Spec, w.New.Spec
	if spec.UpdateRequests < old.UpdateRequests {
		denied = review.Invalid("UpdateRequests", "spec.updateRequests", "it counts requests and cannot go back from %d to %d", old.UpdateRequests, spec.UpdateRequests).
			Remedy("raise it, or leave it out")
	}
	if old.ExternalID != "" && spec.ExternalID != old.ExternalID {
		denied = denied.Also(review.Immutable("spec.externalID", "it is the instance's identity at its broker").
			Remedy("leave it out, or put it back: kubectl get -n %s serviceinstance %s -o jsonpath={.spec.externalID}", w.Req.Namespace, w.Req.Name))
	}
	if !old.Decided() {
		return denied
	}
	if spec.ServiceType != old.ServiceType {
		denied = denied.Also(review.Immutable("spec.serviceType", "the plan is decided").Remedy("create another instance of the other type"))
	}
	if !selectsNothing(spec.PlanSelector) && !equality.Semantic.DeepEqual(spec.PlanSelector, old.PlanSelector) {
		denied = denied.Also(review.Immutable("spec.planSelector", "the plan is decided").
			Remedy("to change the plan, name it, and clear the selector: spec.clusterServicePlanExternalName or another of its names, and spec.planSelector: {}"))
	}
	return denied
}

// selectsNothing says that there is no selector, or an explicit {} that clears
// the one that was there.
func selectsNothing(selector *metav1.LabelSelector) bool {
	return selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) == 0
}
