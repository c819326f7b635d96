package instance

import (
	"cmp"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// A Write is one admission request for a ServiceInstance.
type Write = review.Write[v1beta1.ServiceInstanceSpec, Progress]

// A Draft is a write of a ServiceInstance that the mutating phase completes.
type Draft = decision.Draft[v1beta1.ServiceInstanceSpec, Progress]

// Progress is the status that shows whether a broker was ever called.
type Progress struct {
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
func (p *Progress) planInForce() string {
	has := p.ExternalProperties
	if has == nil {
		return ""
	}
	return cmp.Or(has.PlanExternalID, has.ClusterServicePlanExternalID, has.ServicePlanExternalID)
}

// started is Started of the status.
func (p *Progress) started() bool {
	status := v1beta1.ServiceInstanceStatus{
		AsyncOpInProgress: p.AsyncOpInProgress, OrphanMitigationInProgress: p.OrphanMitigationInProgress,
		CurrentOperation: p.CurrentOperation, ProvisionStatus: p.ProvisionStatus, DeprovisionStatus: p.DeprovisionStatus,
	}
	return p.ExternalProperties != nil || status.Started()
}

// sameSpec says whether two specs ask for the same: parameters are compared as JSON,
// and userInfo is ignored.
func sameSpec(a, b *v1beta1.ServiceInstanceSpec) bool {
	x, y := *a, *b
	if !parameters.Same(x.Parameters, y.Parameters) {
		return false
	}
	x.Parameters, y.Parameters, x.UserInfo, y.UserInfo = nil, nil, nil, nil
	return equality.Semantic.DeepEqual(&x, &y)
}
