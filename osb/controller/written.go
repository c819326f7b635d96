package controller

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/expose"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// What a pass wrote beside the Secret, for status to tell; nil fields are as they were.
type written struct {
	// published says whether there is a ConfigMap, and unpublished that there was one which
	// cannot be written again.
	published, unpublished *bool
	// exposed is what became of the endpoints.
	exposed *exposed
}

// exposed is what became of endpoints.
type exposed struct {
	endpoints []v1beta1.BindingEndpoint
	// service is empty where there is none.
	service string
	// condition is nil where there is nothing to say.
	condition *v1beta1.Condition
	at        metav1.Time
}

// tell has status name all that the binding created.
func (s *bindingSubject) tell(status *v1beta1.ServiceBindingStatus) {
	status.Secrets = nil
	if status.Binding != nil {
		status.Secrets = []string{status.Binding.Name}
	}
	if p := s.written.published; p != nil {
		status.ConfigMaps = nil
		if *p {
			status.ConfigMaps = []string{secretName(s.binding)}
		}
	}
	s.tellUnpublished(status)
	e := s.written.exposed
	if e == nil {
		return
	}
	status.Endpoints, status.Service = e.endpoints, e.service
	if e.condition == nil {
		status.Conditions = v1beta1.RemoveCondition(status.Conditions, v1beta1.ConditionEndpoints)
		return
	}
	status.Conditions = v1beta1.SetCondition(status.Conditions, *e.condition, s.binding.Generation, e.at)
}

// deposit writes what a broker gave: the Secret and the ConfigMap, without which nothing is
// stored, and then the Service, which never keeps credentials from the Secret.
func (s *bindingSubject) deposit(ctx context.Context, given *osb.Binding) error {
	of := s.provenance()
	of.holding = s.holdingOf(given)
	published, err := s.secrets.write(ctx, s.binding, of, given)
	if err != nil {
		return err
	}
	s.issued = of.holding.issued(s.binding)
	s.written.published = &published
	found, refusal := found(&s.binding.Spec, given)
	s.expose(ctx, found, refusal)
	return nil
}

// provenance is what the credentials are of, as far as it is known.
func (s *bindingSubject) provenance() provenance {
	of := provenance{serviceType: s.serviceType()}
	if s.offering != nil && s.offering.class != nil {
		of.class = s.offering.class.ExternalName
	}
	return of
}

// unwrite removes all that the binding created.
func (s *bindingSubject) unwrite(ctx context.Context) error {
	if err := s.services.remove(ctx, s.binding); err != nil {
		return err
	}
	if err := s.secrets.remove(ctx, s.binding); err != nil {
		return err
	}
	s.written = written{published: new(false), exposed: &exposed{}}
	return nil
}

// heal brings the Service of a binding that is bound to what its endpoints are: somebody
// may have changed it, or the rules.
func (s *bindingSubject) heal(ctx context.Context) {
	status := &s.binding.Status
	said, _ := v1beta1.FindCondition(status.Conditions, v1beta1.ConditionEndpoints)
	if len(status.Endpoints) == 0 && status.Service == "" && said.Reason != reasonServiceNotWritten {
		return
	}
	found := discovered{told: true, mapped: slices.ContainsFunc(status.Endpoints, func(e v1beta1.BindingEndpoint) bool { return e.Mapped })}
	for _, e := range status.Endpoints {
		found.endpoints = append(found.endpoints, expose.Endpoint{Host: e.Host, Ports: e.Ports, Protocol: e.Protocol})
		if e.Mapped {
			found.endpoints[len(found.endpoints)-1].Quiet = "a host of spec.endpointsFrom"
		}
	}
	s.expose(ctx, found, nil)
}

// expose makes the Service of endpoints, or says why there is none; then none is there.
func (s *bindingSubject) expose(ctx context.Context, found discovered, refusal *expose.Refusal) {
	e := &exposed{at: metav1.Time{Time: s.clock.Now()}.Rfc3339Copy()}
	s.written.exposed = e
	var target *expose.Target
	var err error
	if refusal == nil && len(found.endpoints) > 0 {
		target, refusal, err = s.target(ctx, &found)
	}
	if err == nil && (refusal != nil || target == nil) {
		err = s.unexpose(ctx, refusal)
	}
	if found.storable(refusal) {
		e.endpoints = found.stored()
	}
	switch {
	case err != nil:
		log.FromContext(ctx).Info("the Service of a binding could not be written; it is tried again", "why", err.Error(), "uid", s.binding.UID)
		e.service = s.binding.Status.Service
		e.condition = &v1beta1.Condition{
			Type: v1beta1.ConditionEndpoints, Status: v1beta1.ConditionUnknown, Reason: reasonServiceNotWritten,
			Message: fmt.Sprintf("the Service %q could not be written; it is tried again", serviceName(s.binding)),
		}
	case refusal != nil:
		e.condition = &v1beta1.Condition{Type: v1beta1.ConditionEndpoints, Status: v1beta1.ConditionFalse, Reason: refusal.Reason, Message: found.refusalOf(refusal)}
	case target != nil:
		e.service = serviceName(s.binding)
		e.condition = &v1beta1.Condition{
			Type: v1beta1.ConditionEndpoints, Status: v1beta1.ConditionTrue, Reason: reasonExposed,
			Message: fmt.Sprintf("the Service %q leads to %s", e.service, found.leadTo(target)),
		}
	}
}

// target finds out what endpoints lead to, and brings the Service there.
func (s *bindingSubject) target(ctx context.Context, found *discovered) (*expose.Target, *expose.Refusal, error) {
	rules, err := s.services.around.now(ctx)
	target, refusal := expose.Of(found.endpoints, rules)
	switch {
	case refusal != nil: // what more is known would not allow it
		return nil, refusal, nil
	case err != nil:
		return nil, nil, err
	}
	refusal, err = s.services.bring(ctx, &leading{binding: s.binding, target: target, trusted: !found.mapped && s.ofClusterBroker()})
	return target, refusal, err
}

// unexpose removes a Service that there was: what may not be, or is not any more, is not
// left to lead anywhere. What is refused is looked for even if status tells of none: a crash
// may have come between. Who may not look at Services made none.
func (s *bindingSubject) unexpose(ctx context.Context, refusal *expose.Refusal) error {
	told := s.binding.Status.Service != "" || len(s.binding.Status.Endpoints) > 0
	said, _ := v1beta1.FindCondition(s.binding.Status.Conditions, v1beta1.ConditionEndpoints)
	if !told && refusal == nil && said.Reason != reasonServiceNotWritten {
		return nil
	}
	err := s.services.remove(ctx, s.binding)
	if !told && apierrors.IsForbidden(err) {
		return nil
	}
	return err
}

// ofClusterBroker says that the binding is at a broker of the cluster.
func (s *bindingSubject) ofClusterBroker() bool {
	if s.ask != nil {
		return s.ask.ClusterServiceBrokerName != ""
	}
	target := new(lifecycle.OfBinding(s.binding).Record).Target()
	return target != nil && target.ClusterServiceBrokerName != ""
}

// unpublishable says, before anything is bound, that the ConfigMap is another's.
func (s *bindingSubject) unpublishable(ctx context.Context) (*lifecycle.Problem, error) {
	if !publishes(s.binding) {
		return nil, nil
	}
	_, state, err := s.secrets.whose(ctx, s.binding, kindConfigMap, secretName(s.binding))
	if err != nil || state != secretForeign {
		return nil, err
	}
	return &lifecycle.Problem{Reason: reasonSecret, Waits: true, Message: fmt.Sprintf(
		"there is a ConfigMap %q that is not of this binding; it is left as it is: remove it, or make a binding with another secretName", secretName(s.binding))}, nil
}
