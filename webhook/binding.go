package webhook

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// A binding is what admission reads of a ServiceBinding, and a bindingWrite one
// request for it.
type (
	binding      = review.Object[v1beta1.ServiceBindingSpec, bindingProgress]
	bindingWrite = review.Write[v1beta1.ServiceBindingSpec, bindingProgress]
)

// bindingProgress tells whether a broker was ever asked for anything.
type bindingProgress struct {
	AsyncOpInProgress          bool                     `json:"asyncOpInProgress"`
	OrphanMitigationInProgress bool                     `json:"orphanMitigationInProgress"`
	CurrentOperation           v1beta1.BindingOperation `json:"currentOperation"`
	UnbindStatus               v1beta1.UnbindStatus     `json:"unbindStatus"`
	ExternalProperties         json.RawMessage          `json:"externalProperties"`
}

// started says that an operation was started for the binding, whatever became of
// it.
func (p *bindingProgress) started() bool {
	untouched := p.UnbindStatus == "" || p.UnbindStatus == v1beta1.UnbindNotRequired
	return !untouched || p.AsyncOpInProgress || p.OrphanMitigationInProgress ||
		p.CurrentOperation != "" || !isNull(p.ExternalProperties)
}

// settledBinding says that the spec of a binding is as a broker has it, or will
// get it: nothing written into it can take effect any more.
func settledBinding(b *binding) bool { return b.Spec.Decided() || b.Status.started() }

// sameBindingSpec says that two specs ask for the same, whoever asks: parameters
// are compared as JSON, and userInfo is not compared.
func sameBindingSpec(a, b *v1beta1.ServiceBindingSpec) bool {
	x, y := *a, *b
	if !sameParameters(x.Parameters, y.Parameters) || !sameParameters(x.ProvisionParameters, y.ProvisionParameters) {
		return false
	}
	x.Parameters, y.Parameters, x.ProvisionParameters, y.ProvisionParameters = nil, nil, nil, nil
	x.UserInfo, y.UserInfo = nil, nil
	return equality.Semantic.DeepEqual(&x, &y)
}
