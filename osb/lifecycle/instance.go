package lifecycle

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// OfInstance returns the Resource of a stored instance.
func OfInstance(i *v1beta1.ServiceInstance) Resource {
	s := &i.Status
	r := Record{
		Async: s.AsyncOpInProgress, Key: s.LastOperation, Mitigating: s.OrphanMitigationInProgress, KeepsID: s.KeepExternalID,
		Started: timeOf(s.OperationStartTime), Deadline: microTimeOf(s.CallDeadline),
		Retries: s.Retries, NextRetry: timeOf(s.NextRetry),
		ID: s.ExternalID, Exists: s.ProvisionStatus == v1beta1.Provisioned, Absent: s.ProvisionStatus == v1beta1.NotProvisioned,
		FetchRequired: s.FetchRequired, Refused: s.RefusedRequest, Unusable: s.Unusable, DashboardURL: s.DashboardURL,
		InProgress: requestOfInstance(s.InProgressProperties), Applied: requestOfInstance(s.ExternalProperties),
		Conditions: s.Conditions, ObservedGeneration: s.ObservedGeneration, ReconciledGeneration: s.ReconciledGeneration,
	}
	switch s.CurrentOperation {
	case v1beta1.InstanceProvision:
		r.Operation = Provisioning
	case v1beta1.InstanceUpdate:
		r.Operation = Updating
	case v1beta1.InstanceDeprovision:
		r.Operation = Deprovisioning
	}
	switch s.DeprovisionStatus {
	case v1beta1.DeprovisionRequired, v1beta1.DeprovisionFailed: // the retired catalog gave up; we do not
		r.DeprovisionStatus = DeprovisionRequired
	case v1beta1.DeprovisionSucceeded:
		r.DeprovisionStatus = DeprovisionSucceeded
	case v1beta1.DeprovisionNotRequired:
	}
	if i.Generation == s.ObservedGeneration {
		r.takeOverRequests(i.Spec.UpdateRequests)
	}
	t := Resource{Kind: Instance, SpecID: i.Spec.ExternalID, Record: r}
	t.describe(i)
	t.takeOverID()
	return t
}

// InstanceStatus returns the status for a record. It keeps the fields of over that the
// record does not cover.
func (r *Record) InstanceStatus(over v1beta1.ServiceInstanceStatus) v1beta1.ServiceInstanceStatus {
	s := over
	s.Conditions, s.RefusedRequest = r.Conditions, r.Refused
	s.LastConditionState = v1beta1.LastConditionState(r.Conditions)
	s.AsyncOpInProgress, s.LastOperation, s.OrphanMitigationInProgress, s.KeepExternalID = r.Async, r.Key, r.Mitigating, r.KeepsID
	s.OperationStartTime, s.CallDeadline = storedTime(r.Started), storedMicroTime(r.Deadline)
	s.Retries, s.NextRetry = r.Retries, storedTime(r.NextRetry)
	s.ExternalID, s.FetchRequired, s.Unusable, s.DashboardURL = r.ID, r.FetchRequired, r.Unusable, r.DashboardURL
	s.InProgressProperties, s.ExternalProperties = instanceProperties(r.InProgress), instanceProperties(r.Applied)
	s.ObservedGeneration, s.ReconciledGeneration = r.ObservedGeneration, r.ReconciledGeneration
	s.CurrentOperation = map[Operation]v1beta1.InstanceOperation{
		Provisioning: v1beta1.InstanceProvision, Updating: v1beta1.InstanceUpdate, Deprovisioning: v1beta1.InstanceDeprovision,
	}[r.Operation]
	s.DeprovisionStatus = map[DeprovisionStatus]v1beta1.DeprovisionStatus{
		DeprovisionNotRequired: v1beta1.DeprovisionNotRequired, DeprovisionRequired: v1beta1.DeprovisionRequired, DeprovisionSucceeded: v1beta1.DeprovisionSucceeded,
	}[r.DeprovisionStatus]
	s.ProvisionStatus = ""
	if r.Absent {
		s.ProvisionStatus = v1beta1.NotProvisioned
	}
	if r.Exists {
		s.ProvisionStatus = v1beta1.Provisioned
	}
	return s
}

func requestOfInstance(p *v1beta1.ServiceInstancePropertiesState) *Request {
	if p == nil {
		return nil
	}
	s := &Request{
		BrokerTarget: p.BrokerTarget, PlanName: p.ServicePlanExternalName, PlanRefName: p.PlanRefName,
		Parameters: p.Parameters, ParameterChecksum: p.ParameterChecksum, ContextChecksum: p.ContextChecksum,
		MaintenanceVersion: p.MaintenanceVersion, UpdateRequests: p.UpdateRequests, User: p.UserInfo,
		Retired: p.RetiredChecksum,
	}
	if p.ClusterServicePlanExternalID != "" {
		s.Cluster, s.PlanName = true, p.ClusterServicePlanExternalName
	}
	if s.PlanExternalID == "" { // written by the retired catalog
		s.PlanExternalID, s.Retired = p.ClusterServicePlanExternalID+p.ServicePlanExternalID, true
	}
	return s
}

// takeOverRequests marks the update requests in a spec that the retired catalog acted on as
// served: the retired catalog recorded none, and the user does not request a new version now.
// A record that this controller wrote names the class.
func (r *Record) takeOverRequests(requests int64) {
	for _, request := range []*Request{r.Applied, r.InProgress} {
		if request != nil && request.Retired && request.ClassExternalID == "" {
			request.UpdateRequests = requests
		}
	}
}

func instanceProperties(s *Request) *v1beta1.ServiceInstancePropertiesState {
	if s == nil {
		return nil
	}
	p := &v1beta1.ServiceInstancePropertiesState{
		Parameters: s.Parameters, ParameterChecksum: s.ParameterChecksum, UserInfo: s.User, BrokerTarget: s.BrokerTarget,
		MaintenanceVersion: s.MaintenanceVersion, ContextChecksum: s.ContextChecksum, UpdateRequests: s.UpdateRequests,
		RetiredChecksum: s.Retired, PlanRefName: s.PlanRefName,
	}
	if s.Cluster {
		p.ClusterServicePlanExternalName, p.ClusterServicePlanExternalID = s.PlanName, s.PlanExternalID
		return p
	}
	p.ServicePlanExternalName, p.ServicePlanExternalID = s.PlanName, s.PlanExternalID
	return p
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

func microTimeOf(t *metav1.MicroTime) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

// storedTime is a time as status holds it, in whole seconds: never earlier than it is.
func storedTime(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	rounded := t.Truncate(time.Second)
	if rounded.Before(t) {
		rounded = rounded.Add(time.Second)
	}
	return &metav1.Time{Time: rounded}
}

func storedMicroTime(t time.Time) *metav1.MicroTime {
	if t.IsZero() {
		return nil
	}
	return &metav1.MicroTime{Time: t.Truncate(time.Microsecond)}
}
