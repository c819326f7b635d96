package lifecycle

import (
	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// OfBinding is the Thing that a stored binding is.
func OfBinding(b *v1beta1.ServiceBinding) Thing {
	s := &b.Status
	r := Record{
		Async: s.AsyncOpInProgress, Key: s.LastOperation, Mitigating: s.OrphanMitigationInProgress,
		Started: timeOf(s.OperationStartTime), Deadline: microTimeOf(s.CallDeadline),
		Retries: s.Retries, NextRetry: timeOf(s.NextRetry),
		ID: s.ExternalID, FetchRequired: s.FetchRequired, Refused: s.RefusedRequest,
		InProgress: sentOfBinding(s.InProgressProperties), Accepted: sentOfBinding(s.ExternalProperties),
		Conditions: s.Conditions, ObservedGeneration: s.ObservedGeneration, ReconciledGeneration: s.ReconciledGeneration,
	}
	// Credentials that are stored are what a binding exists by.
	r.Exists = r.Accepted != nil
	if s.Binding != nil {
		r.SecretName = s.Binding.Name
	}
	switch s.CurrentOperation {
	case v1beta1.BindingBind:
		r.Operation = Making
	case v1beta1.BindingUnbind:
		r.Operation = Removing
	}
	switch s.UnbindStatus {
	case v1beta1.UnbindRequired, v1beta1.UnbindFailed: // the retired catalog gave up; we do not
		r.Owed = IsOwed
	case v1beta1.UnbindSucceeded:
		r.Owed = WasPaid
	case v1beta1.UnbindNotRequired:
	}
	t := Thing{Kind: Binding, SpecID: b.Spec.ExternalID, Record: r}
	t.describe(b)
	t.takeOverID()
	return t
}

// BindingStatus is the status that a record is, over one with fields that are none of
// its business.
func (r *Record) BindingStatus(over v1beta1.ServiceBindingStatus) v1beta1.ServiceBindingStatus {
	s := over
	s.Conditions, s.RefusedRequest = r.Conditions, r.Refused
	s.LastConditionState = v1beta1.LastConditionState(r.Conditions)
	s.AsyncOpInProgress, s.LastOperation, s.OrphanMitigationInProgress = r.Async, r.Key, r.Mitigating
	s.OperationStartTime, s.CallDeadline = storedTime(r.Started), storedMicroTime(r.Deadline)
	s.Retries, s.NextRetry = r.Retries, storedTime(r.NextRetry)
	s.ExternalID, s.FetchRequired = r.ID, r.FetchRequired
	s.InProgressProperties, s.ExternalProperties = bindingProperties(r.InProgress), bindingProperties(r.Accepted)
	s.ObservedGeneration, s.ReconciledGeneration = r.ObservedGeneration, r.ReconciledGeneration
	s.CurrentOperation = map[Operation]v1beta1.BindingOperation{
		Making: v1beta1.BindingBind, Removing: v1beta1.BindingUnbind,
	}[r.Operation]
	s.UnbindStatus = map[Owed]v1beta1.UnbindStatus{
		NotOwed: v1beta1.UnbindNotRequired, IsOwed: v1beta1.UnbindRequired, WasPaid: v1beta1.UnbindSucceeded,
	}[r.Owed]
	s.Binding = nil
	if r.SecretName != "" {
		s.Binding = &v1beta1.LocalObjectReference{Name: r.SecretName}
	}
	return s
}

func sentOfBinding(p *v1beta1.ServiceBindingPropertiesState) *Sent {
	if p == nil {
		return nil
	}
	return &Sent{
		BrokerTarget: p.BrokerTarget, InstanceID: p.InstanceExternalID,
		Parameters: p.Parameters, ParameterChecksum: p.ParameterChecksum, User: p.UserInfo,
	}
}

func bindingProperties(s *Sent) *v1beta1.ServiceBindingPropertiesState {
	if s == nil {
		return nil
	}
	return &v1beta1.ServiceBindingPropertiesState{
		Parameters: s.Parameters, ParameterChecksum: s.ParameterChecksum, UserInfo: s.User,
		BrokerTarget: s.BrokerTarget, InstanceExternalID: s.InstanceID,
	}
}
