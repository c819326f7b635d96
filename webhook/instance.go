package webhook

import (
	"cmp"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// An instanceWrite is one admission request for a ServiceInstance.
type instanceWrite = review.Write[v1beta1.ServiceInstanceSpec, progress]

// progress is the status that shows whether a broker was ever called.
type progress struct {
	AsyncOpInProgress          bool                      `json:"asyncOpInProgress"`
	OrphanMitigationInProgress bool                      `json:"orphanMitigationInProgress"`
	CurrentOperation           v1beta1.InstanceOperation `json:"currentOperation"`
	ProvisionStatus            v1beta1.ProvisionStatus   `json:"provisionStatus"`
	DeprovisionStatus          v1beta1.DeprovisionStatus `json:"deprovisionStatus"`
	ExternalProperties         *recordedPlan             `json:"externalProperties"`
}

// A recordedPlan is the ID of the plan that a broker gave the instance, as status records it.
type recordedPlan struct {
	PlanExternalID               string `json:"planExternalID"`
	ClusterServicePlanExternalID string `json:"clusterServicePlanExternalID"`
	ServicePlanExternalID        string `json:"servicePlanExternalID"`
}

// planInForce is the external ID of the plan that the instance has at its
// broker; empty if it has none, or it is not recorded.
func (p *progress) planInForce() string {
	has := p.ExternalProperties
	if has == nil {
		return ""
	}
	return cmp.Or(has.PlanExternalID, has.ClusterServicePlanExternalID, has.ServicePlanExternalID)
}

// started says whether an operation was started for the instance, whatever its
// outcome.
func (p *progress) started() bool {
	untouched := p.DeprovisionStatus == "" || p.DeprovisionStatus == v1beta1.DeprovisionNotRequired
	return !untouched || p.AsyncOpInProgress || p.OrphanMitigationInProgress ||
		p.CurrentOperation != "" || p.ProvisionStatus == v1beta1.Provisioned || p.ExternalProperties != nil
}

// sameSpec says whether two specs ask for the same: parameters are compared as
// JSON, and userInfo is ignored.
func sameSpec(a, b *v1beta1.ServiceInstanceSpec) bool {
	x, y := *a, *b
	if !sameParameters(x.Parameters, y.Parameters) {
		return false
	}
	x.Parameters, y.Parameters, x.UserInfo, y.UserInfo = nil, nil, nil, nil
	return equality.Semantic.DeepEqual(&x, &y)
}

// sameValue compares two values of a spec, or of decoded JSON.
func sameValue(a, b any) bool { return reflect.DeepEqual(a, b) }

func sameParameters(a, b *runtime.RawExtension) bool {
	if string(rawOf(a)) == string(rawOf(b)) {
		return true
	}
	x, errX := merge.Decode(rawOf(a))
	y, errY := merge.Decode(rawOf(b))
	return errX == nil && errY == nil && merge.Equal(x, y)
}

// rawOf is the JSON of an optional object, empty for none and for null.
func rawOf(object *runtime.RawExtension) []byte {
	if object == nil || isNull(object.Raw) {
		return nil
	}
	return object.Raw
}

func isNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }

// requester is the user who sent the request.
func requester(req *admission.Request) *v1beta1.UserInfo {
	info := &v1beta1.UserInfo{Username: req.UserInfo.Username, UID: req.UserInfo.UID, Groups: req.UserInfo.Groups}
	if len(req.UserInfo.Extra) > 0 {
		info.Extra = make(map[string]v1beta1.ExtraValue, len(req.UserInfo.Extra))
		for key, value := range req.UserInfo.Extra {
			info.Extra[key] = v1beta1.ExtraValue(value)
		}
	}
	return info
}
