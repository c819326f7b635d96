package binding

import (
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// refuseShape denies what is wrong for any catalog and any instance; read gives the parameters.
func refuseShape(w *write, read func() (map[string]any, error)) *review.Denial {
	spec, old, created := w.New.Spec, w.Before(), w.Old == nil
	denied := misshapen(spec, w.Req.Namespace)
	if created || !parameters.Same(old.Parameters, spec.Parameters) {
		denied = denied.Also(parameters.Unreadable(read()))
	}
	if spec.InstanceRef == nil && (created || !parameters.Same(old.ProvisionParameters, spec.ProvisionParameters)) {
		denied = denied.Also(deniedInClaimsWords(parameters.Unreadable(merge.Decode(parameters.Raw(spec.ProvisionParameters)))))
	}
	if created || !equality.Semantic.DeepEqual(old.ParametersFrom, spec.ParametersFrom) {
		denied = denied.Also(parameters.WrongSources(spec.ParametersFrom, "servicebinding"))
	}
	if old.ExternalID != "" && spec.ExternalID != old.ExternalID {
		denied = denied.Also(review.Immutable("spec.externalID", "it is the binding's identity at its broker").Remedy("leave it out"))
	}
	return denied
}

// misshapen denies a spec that is wrong for any instance: names that contradict
// each other, and fields that have no effect beside a named instance.
func misshapen(spec *bindingSpec, namespace string) *review.Denial {
	_, err := resolve.RequestFor(&spec.PlanReference, namespace, "")
	switch {
	case spec.InstanceRef == nil:
		return misshapenClaim(spec, namespace)
	case !parameters.IsNull(parameters.Raw(spec.ProvisionParameters)):
		return notDedicated("spec.provisionParameters", namespace, instanceAt(spec, namespace))
	case spec.PlanSelector != nil:
		return notDedicated("spec.planSelector", namespace, instanceAt(spec, namespace))
	case err != nil:
		return review.Invalid("InvalidReference", "spec", "%s", err.Error()).Remedy("leave class and plan out: they are the instance's")
	}
	return nil
}
