package instance

import (
	"errors"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// refuseShape denies what is wrong for any catalog; read gives the parameters.
func refuseShape(w *Write, read func() (map[string]any, error)) *review.Denial {
	spec, old, created := w.New.Spec, w.Before(), w.Req.Operation == admissionv1.Create
	var denied *review.Denial
	var contradiction *resolve.Error
	if _, err := resolve.RequestFor(&spec.PlanReference, w.Req.Namespace, ""); errors.As(err, &contradiction) {
		denied = decision.Unresolved(contradiction, resolve.Request{})
	}
	if created || !parameters.Same(old.Parameters, spec.Parameters) {
		denied = denied.Also(parameters.Unreadable(read()))
	}
	if created || !equality.Semantic.DeepEqual(old.ParametersFrom, spec.ParametersFrom) {
		denied = denied.Also(parameters.WrongSources(spec.ParametersFrom, "serviceinstance"))
	}
	return denied.Also(refuseSharing(old.Sharing, spec.Sharing))
}
