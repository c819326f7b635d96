package endpoints

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/expose"
)

// An Outcome is the result for the endpoints of a binding, for its status.
type Outcome struct {
	endpoints []v1beta1.BindingEndpoint
	// service is empty where there is none.
	service string
	// condition is nil where there is nothing to say.
	condition *v1beta1.Condition
	at        metav1.Time
}

// Tell writes the outcome into a binding's status. generation is that of the binding.
func (o *Outcome) Tell(status *v1beta1.ServiceBindingStatus, generation int64) {
	status.Endpoints, status.Service = o.endpoints, o.service
	if o.condition == nil {
		status.Conditions = v1beta1.RemoveCondition(status.Conditions, v1beta1.ConditionEndpoints)
		return
	}
	status.Conditions = v1beta1.SetCondition(status.Conditions, *o.condition, generation, o.at)
}

// Heal restores the Service of a bound binding to the endpoints in its status;
// nil: status has none. ofClusterBroker is as for Expose.
func (s Services) Heal(ctx context.Context, b *v1beta1.ServiceBinding, ofClusterBroker bool) *Outcome {
	said, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionEndpoints)
	if len(b.Status.Endpoints) == 0 && b.Status.Service == "" && said.Reason != ReasonServiceNotWritten {
		return nil
	}
	return s.Expose(ctx, b, stated(b.Status.Endpoints), nil, ofClusterBroker)
}

// stated are the endpoints that status has.
func stated(list []v1beta1.BindingEndpoint) Discovered {
	found := Discovered{told: true, mapped: slices.ContainsFunc(list, func(e v1beta1.BindingEndpoint) bool { return e.Mapped })}
	for _, e := range list {
		found.Endpoints = append(found.Endpoints, expose.Endpoint{Host: e.Host, Ports: e.Ports, Protocol: e.Protocol})
		if e.Mapped {
			found.Endpoints[len(found.Endpoints)-1].Quiet = "a host of spec.endpointsFrom"
		}
	}
	return found
}

// Expose creates or updates the Service for endpoints, or removes it and says
// why. ofClusterBroker says that the binding is at a ClusterServiceBroker,
// whose addresses need no permission of the binding's user.
func (s Services) Expose(ctx context.Context, b *v1beta1.ServiceBinding, found Discovered, refusal *expose.Refusal, ofClusterBroker bool) *Outcome {
	if s.Disabled {
		return s.withhold(b, found, refusal)
	}
	o := &Outcome{at: s.now()}
	var target *expose.Target
	var err error
	if refusal == nil && len(found.Endpoints) > 0 {
		target, refusal, err = s.target(ctx, b, &found, ofClusterBroker)
	}
	if err == nil && (refusal != nil || target == nil) {
		err = s.unexpose(ctx, b, refusal)
	}
	if found.storable(refusal) {
		o.endpoints = found.stored()
	}
	switch {
	case err != nil:
		log.FromContext(ctx).Info("the Service of a binding could not be written; it is tried again", "why", err.Error(), "uid", b.UID)
		o.service = b.Status.Service
		o.condition = &v1beta1.Condition{
			Type: v1beta1.ConditionEndpoints, Status: v1beta1.ConditionUnknown, Reason: ReasonServiceNotWritten,
			Message: fmt.Sprintf("the Service %q could not be written; it is tried again", ServiceName(b)),
		}
	case refusal != nil:
		o.condition = refused(refusal.Reason, found.refusalOf(refusal))
	case target != nil:
		o.service = ServiceName(b)
		o.condition = &v1beta1.Condition{
			Type: v1beta1.ConditionEndpoints, Status: v1beta1.ConditionTrue, Reason: ReasonExposed,
			Message: fmt.Sprintf("the Service %q leads to %s", o.service, found.leadTo(target)),
		}
	}
	return o
}

// target computes the target of endpoints, and updates the Service.
func (s Services) target(ctx context.Context, b *v1beta1.ServiceBinding, found *Discovered, ofClusterBroker bool) (*expose.Target, *expose.Refusal, error) {
	rules, err := s.Rules.Current(ctx)
	target, refusal := expose.Of(found.Endpoints, rules)
	switch {
	case refusal != nil: // what more is known would not allow it
		return nil, refusal, nil
	case err != nil:
		return nil, nil, err
	}
	refusal, err = s.bring(ctx, &leading{binding: b, target: target, trusted: !found.mapped && ofClusterBroker})
	return target, refusal, err
}

// Remove removes the binding's own Service, and returns the outcome for status.
func (s Services) Remove(ctx context.Context, b *v1beta1.ServiceBinding) (*Outcome, error) {
	if s.Disabled {
		return s.leave(b), nil
	}
	return &Outcome{}, s.removeAll(ctx, b)
}

// unexpose removes a former Service, so that none stays for endpoints that are
// refused or gone. For refused endpoints it reads the Service even if status
// has none, because of a possible crash. Without permission to read Services,
// none was created.
func (s Services) unexpose(ctx context.Context, b *v1beta1.ServiceBinding, refusal *expose.Refusal) error {
	told := b.Status.Service != "" || len(b.Status.Endpoints) > 0
	said, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionEndpoints)
	if !told && refusal == nil && said.Reason != ReasonServiceNotWritten {
		return nil
	}
	err := s.removeAll(ctx, b)
	if !told && apierrors.IsForbidden(err) {
		return nil
	}
	return err
}
