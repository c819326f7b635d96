package lifecycle

import (
	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// OfBinding returns the Resource of a stored binding.
func OfBinding(b *v1beta1.ServiceBinding) Resource {
	s := &b.Status
	r := Record{
		Async: s.AsyncOpInProgress, Key: s.LastOperation, Mitigating: s.OrphanMitigationInProgress, KeepsID: s.KeepExternalID,
		Started: timeOf(s.OperationStartTime), Deadline: microTimeOf(s.CallDeadline),
		Retries: s.Retries, NextRetry: timeOf(s.NextRetry),
		ID: s.ExternalID, FetchRequired: s.FetchRequired, Refused: s.RefusedRequest,
		InProgress: requestOfBinding(s.InProgressProperties), Applied: requestOfBinding(s.ExternalProperties),
		Conditions: s.Conditions, ObservedGeneration: s.ObservedGeneration, ReconciledGeneration: s.ReconciledGeneration,
	}
	// A binding exists if its credentials are stored.
	r.Exists = r.Applied != nil
	if s.Binding != nil {
		r.SecretName = s.Binding.Name
	}
	switch s.CurrentOperation {
	case v1beta1.BindingBind:
		r.Operation = Provisioning
	case v1beta1.BindingUnbind:
		r.Operation = Deprovisioning
	}
	switch s.UnbindStatus {
	case v1beta1.UnbindRequired, v1beta1.UnbindFailed: // the retired catalog gave up; we do not
		r.DeprovisionStatus = DeprovisionRequired
	case v1beta1.UnbindSucceeded:
		r.DeprovisionStatus = DeprovisionSucceeded
	case v1beta1.UnbindNotRequired:
	}
	t := Resource{Kind: Binding, SpecID: b.Spec.ExternalID, Record: r}
	t.describe(b)
	t.takeOverID()
	return t
}

// BindingStatus returns the status for a record. It keeps the fields of over that the
// record does not cover.
func (r *Record) BindingStatus(over v1beta1.ServiceBindingStatus) v1beta1.ServiceBindingStatus {
	s := over
	s.Conditions, s.RefusedRequest = r.Conditions, r.Refused
	s.LastConditionState = v1beta1.LastConditionState(r.Conditions)
	s.AsyncOpInProgress, s.LastOperation, s.OrphanMitigationInProgress, s.KeepExternalID = r.Async, r.Key, r.Mitigating, r.KeepsID
	s.OperationStartTime, s.CallDeadline = storedTime(r.Started), storedMicroTime(r.Deadline)
	s.Retries, s.NextRetry = r.Retries, storedTime(r.NextRetry)
	s.ExternalID, s.FetchRequired = r.ID, r.FetchRequired
	s.InProgressProperties, s.ExternalProperties = bindingProperties(r.InProgress), bindingProperties(r.Applied)
	s.ObservedGeneration, s.ReconciledGeneration = r.ObservedGeneration, r.ReconciledGeneration
	s.CurrentOperation = map[Operation]v1beta1.BindingOperation{
		Provisioning: v1beta1.BindingBind, Deprovisioning: v1beta1.BindingUnbind,
	}[r.Operation]
	s.UnbindStatus = map[DeprovisionStatus]v1beta1.UnbindStatus{
		DeprovisionNotRequired: v1beta1.UnbindNotRequired, DeprovisionRequired: v1beta1.UnbindRequired, DeprovisionSucceeded: v1beta1.UnbindSucceeded,
	}[r.DeprovisionStatus]
	s.Binding = nil
	if r.SecretName != "" {
		s.Binding = &v1beta1.LocalObjectReference{Name: r.SecretName}
	}
	return s
}

func requestOfBinding(p *v1beta1.ServiceBindingPropertiesState) *Request {
	if p == nil {
		return nil
	}
	return &Request{
		BrokerTarget: p.BrokerTarget, InstanceID: p.InstanceExternalID,
		Parameters: p.Parameters, ParameterChecksum: p.ParameterChecksum, User: p.UserInfo,
	}
}

func bindingProperties(s *Request) *v1beta1.ServiceBindingPropertiesState {
	if s == nil {
		return nil
	}
	return &v1beta1.ServiceBindingPropertiesState{
		Parameters: s.Parameters, ParameterChecksum: s.ParameterChecksum, UserInfo: s.User,
		BrokerTarget: s.BrokerTarget, InstanceExternalID: s.InstanceID,
	}
}
