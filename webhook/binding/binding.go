package binding

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// A binding is what admission reads of a ServiceBinding, a write one request for it, and a draft
// a write that the mutating phase completes.
type (
	binding = review.Object[bindingSpec, progress]
	write   = review.Write[bindingSpec, progress]
	draft   = decision.Draft[bindingSpec, progress]
)

// progress is the status that shows whether a broker was ever called.
type progress struct {
	AsyncOpInProgress          bool                     `json:"asyncOpInProgress"`
	OrphanMitigationInProgress bool                     `json:"orphanMitigationInProgress"`
	CurrentOperation           v1beta1.BindingOperation `json:"currentOperation"`
	UnbindStatus               v1beta1.UnbindStatus     `json:"unbindStatus"`
	ExternalProperties         json.RawMessage          `json:"externalProperties"`
}

// started says whether a broker was called for the binding.
func (p *progress) started() bool {
	status := v1beta1.ServiceBindingStatus{
		AsyncOpInProgress: p.AsyncOpInProgress, OrphanMitigationInProgress: p.OrphanMitigationInProgress,
		CurrentOperation: p.CurrentOperation, UnbindStatus: p.UnbindStatus,
	}
	if !parameters.IsNull(p.ExternalProperties) {
		status.ExternalProperties = &v1beta1.ServiceBindingPropertiesState{}
	}
	return status.Started()
}

// settledBinding says whether the broker has the spec of a binding, or is about
// to get it: later changes of the spec have no effect.
func settledBinding(b *binding) bool { return b.Spec.Decided() || b.Status.started() }

// sameBindingSpec says whether two specs ask for the same: parameters are compared
// as JSON, and userInfo is ignored.
func sameBindingSpec(a, b *v1beta1.ServiceBindingSpec) bool {
	x, y := *a, *b
	if !parameters.Same(x.Parameters, y.Parameters) || !parameters.Same(x.ProvisionParameters, y.ProvisionParameters) {
		return false
	}
	x.Parameters, y.Parameters, x.ProvisionParameters, y.ProvisionParameters = nil, nil, nil, nil
	x.UserInfo, y.UserInfo = nil, nil
	return equality.Semantic.DeepEqual(&x, &y)
}
