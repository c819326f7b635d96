package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/broker"
	"github.com/defaultplan/defaultplan/osb/controller/credentials"
	"github.com/defaultplan/defaultplan/osb/controller/dedicated"
	"github.com/defaultplan/defaultplan/osb/controller/owned"
	"github.com/defaultplan/defaultplan/osb/controller/scope"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// Reasons for which a binding waits.
const (
	reasonNoInstance       = "ReferencesNonexistentInstance"
	reasonInstanceNotReady = "ErrorInstanceNotReady"
	reasonUnresolved       = dedicated.ReasonUnresolved
)

// gather finds out what the binding asks for, and of which instance.
func (s *bindingResource) gather(ctx context.Context, thing *lifecycle.Resource) (inputs, error) {
	found := inputs{reread: true}
	instance, err := s.instance(ctx)
	if found.Problem = scope.Problem(err); found.Problem != nil {
		// The broker's client returns the problem that is not looked for here.
		if target := thing.Record.Target(); target != nil {
			found.broker = broker.KeyOf(&target.BrokerTarget, s.binding.InstanceKey().Namespace)
		}
		return found, nil
	}
	if err != nil {
		return found, err
	}
	if s.binding.Dedicated() {
		if instance, err = s.claim(ctx, thing, instance, &found); err != nil {
			return found, err
		}
	}
	if err := s.judgeSharing(ctx, thing, instance); err != nil {
		return found, err
	}
	if s.closed && thing.Record.Operation == lifecycle.NoOperation {
		instance = nil // nothing of it is told
	}
	if err := s.resolveRefs(ctx, thing, instance, &found); err != nil {
		return found, err
	}
	if err := s.locate(ctx, thing, &found); err != nil {
		return found, err
	}
	if thing.Deleting && len(s.binding.Spec.ParametersFrom) > 0 {
		if err := s.enter(ctx, s, thing, &found); err != nil {
			return found, err
		}
	}
	if r := &thing.Record; thing.Deleting || r.Mitigating || r.Async {
		s.redact(ctx)
	}
	found.redactor = s.parameters.Redactor
	return found, nil
}

// claim manages the dedicated instance of the binding: it is created once, and deleted when
// nothing is bound to it any more.
func (s *bindingResource) claim(ctx context.Context, thing *lifecycle.Resource, cached *v1beta1.ServiceInstance, found *inputs) (instance *v1beta1.ServiceInstance, err error) {
	r := dedicated.Reconciler{Client: s.store.client, Live: s.store.live, Catalog: s.catalog, Events: s.events, AddFinalizer: s.store.addFinalizer}
	if thing.Deleting {
		instance, found.Remains, err = r.Remove(ctx, s.binding, thing)
		return instance, err
	}
	s.own, err = r.Ensure(ctx, s.binding, cached)
	return s.own.Instance, err
}

// findSecret reads the owner of the Secret, once: it may have another one the
// next time.
func (s *bindingResource) findSecret(ctx context.Context) error {
	if s.secret != nil {
		return nil
	}
	secret, state, err := s.secrets.Find(ctx, s.binding, owned.Secret, credentials.SecretName(s.binding))
	if err == nil {
		s.secret, s.holding = &state, credentials.MetadataOf(secret)
	}
	return err
}

// redact reads the parameters, as far as they exist, to redact their values in
// what the broker of a binding that is removed or polled says.
func (s *bindingResource) redact(ctx context.Context) {
	if s.parameters.Redactor.Knows() {
		return
	}
	read, _, err := s.bindings.parameters.Read(ctx, s.binding, s.binding.Spec.Parameters, s.binding.Spec.ParametersFrom)
	if err == nil {
		s.parameters.Redactor = read.Redactor
	}
}

// instance is the one to bind to; nil if it is not there.
func (s *bindingResource) instance(ctx context.Context) (*v1beta1.ServiceInstance, error) {
	instance := &v1beta1.ServiceInstance{}
	at := s.binding.InstanceKey()
	err := s.reader.Get(ctx, at, instance)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read instance %q: %w", at.Name, err)
	}
	return instance, nil
}

// resolveRefs reads what the spec refers to. A binding that is bound needs nothing of it, until
// its Secret is lost.
func (s *bindingResource) resolveRefs(ctx context.Context, thing *lifecycle.Resource, instance *v1beta1.ServiceInstance, found *inputs) error {
	r := &thing.Record
	if problem := s.own.Problem; problem != nil && problem.Voids { // it is reported although the binding is bound
		found.Problem = problem
		return nil
	}
	if instance != nil {
		if err := s.offered(ctx, thing, instance, found); err != nil {
			return err
		}
	}
	if thing.Deleting {
		return nil
	}
	if r.Exists {
		lost, err := s.lost(ctx, found)
		if err != nil {
			return err
		}
		if !lost && r.Operation == lifecycle.NoOperation && !r.FetchRequired {
			s.ask = &lifecycle.Desired{Request: *r.Applied, Rule: s.rule()}
			found.Desired = s.ask
			s.written.result = s.endpoints.Again(s.binding)
			return nil
		}
		found.SecretLost = lost
	} else if err := s.recovers(ctx, r, found); err != nil || found.Stored && !found.ToldMore {
		return err
	}
	if err := s.place(ctx, thing, instance, *found); err != nil {
		return err
	}
	problem, err := s.unable(ctx, r, instance)
	if problem == nil && err == nil {
		problem, err = s.denied(ctx, r, instance)
	}
	if problem == nil && err == nil {
		problem, err = s.slotless(ctx, r)
	}
	if problem != nil || err != nil {
		found.Problem = problem
		return err
	}
	return s.repeats(ctx, r, instance, found)
}

func (s *bindingResource) rule() string {
	applied, _ := v1beta1.ParseAppliedDefaults(s.binding.Annotations[v1beta1.AnnotationAppliedDefaults])
	return applied.Rule
}

// unable says why nothing can be bound now.
func (s *bindingResource) unable(ctx context.Context, r *lifecycle.Record, instance *v1beta1.ServiceInstance) (*lifecycle.Problem, error) {
	if problem := s.unbindable(r, instance); problem != nil {
		return problem, nil
	}
	ends, err := s.platform.Ends(ctx, s.binding.Namespace)
	if err != nil {
		return nil, err
	}
	if ends { // its Secrets go first, and none can be made
		return &lifecycle.Problem{Reason: credentials.ReasonNotStored, Waits: true, Message: "the namespace is being deleted"}, nil
	}
	if err := s.findSecret(ctx); err != nil {
		return nil, err
	}
	if *s.secret == owned.Foreign {
		return &lifecycle.Problem{
			Reason: credentials.ReasonNotStored, Waits: true,
			Message: fmt.Sprintf("there is a Secret %q that is not of this binding; it is left as it is: remove it, or make a binding with another secretName", credentials.SecretName(s.binding)),
		}, nil
	}
	if problem, err := s.unpublishable(ctx); problem != nil || err != nil {
		return problem, err
	}
	if problem := s.secrets.Unreadable(ctx, s.binding); problem != nil {
		return problem, nil
	}
	// After credentials that could not be stored, no others are requested that
	// could not be stored either.
	if ready, _ := v1beta1.FindCondition(r.Conditions, v1beta1.ConditionReady); ready.Reason == credentials.ReasonNotStored && *s.secret == owned.Absent {
		return s.secrets.Refused(ctx, s.binding, s.serviceType())
	}
	return nil, nil
}

// unbindable says why, as far as the cache knows.
func (s *bindingResource) unbindable(r *lifecycle.Record, instance *v1beta1.ServiceInstance) *lifecycle.Problem {
	if problem := s.unshared(); problem != nil {
		return problem
	}
	if problem := s.unready(instance); problem != nil && r.Operation == lifecycle.NoOperation {
		return problem
	}
	if instance == nil || s.offering == nil || instance.Status.ExternalProperties == nil {
		return &lifecycle.Problem{Reason: reasonNoInstance, Waits: true, Message: "what it was bound to is not there any more"}
	}
	if s.replaced(instance) {
		return &lifecycle.Problem{Reason: reasonNoInstance, Waits: true, Message: fmt.Sprintf(
			"what it was bound to is not there any more: the instance %q is another one of that name; delete the binding and create it again", s.binding.InstanceKey().Name)}
	}
	if s.binding.Namespace == metav1.NamespaceSystem { // a policy holds the controller to that: deploy/vap/kubesystem.yaml
		return &lifecycle.Problem{Reason: credentials.ReasonNotStored, Waits: true, Message: "nothing is made in kube-system: make the binding in another namespace"}
	}
	return nil
}

// replaced says whether a bound binding is at another instance than the one that has the
// name now: the former was abandoned. Credentials from the former's broker must not be
// recorded as those of the latter's, which may be trusted with more.
func (s *bindingResource) replaced(instance *v1beta1.ServiceInstance) bool {
	bound := lifecycle.OfBinding(s.binding).Record
	if !bound.Exists {
		return false
	}
	was, is := bound.Applied.BrokerTarget, s.targetOf(instance)
	known := was.ClusterServiceBrokerName != "" || was.ServiceBrokerName != "" // the retired catalog did not say
	return !isFor(s.binding, instance) ||
		known && (was.ClusterServiceBrokerName != is.ClusterServiceBrokerName || was.ServiceBrokerName != is.ServiceBrokerName)
}

// targetOf is the broker, class and plan that an instance has at its broker.
func (s *bindingResource) targetOf(instance *v1beta1.ServiceInstance) v1beta1.BrokerTarget {
	if has := instance.Status.ExternalProperties.BrokerTarget; has.ClassExternalID != "" {
		return has
	}
	return s.offering.Target // provisioned by the retired catalog
}

// unready says why the instance cannot be bound to yet.
func (s *bindingResource) unready(instance *v1beta1.ServiceInstance) *lifecycle.Problem {
	if problem := s.own.Unprovided(s.binding, instance); problem != nil {
		return problem
	}
	name := s.binding.InstanceKey().Name
	waits := func(reason, format string, args ...any) *lifecycle.Problem {
		return &lifecycle.Problem{Reason: reason, Waits: true, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case instance == nil:
		return waits(reasonNoInstance, "the instance %q is not there", name)
	case dedicated.OfAnother(s.binding, instance):
		return &lifecycle.Problem{Reason: dedicated.ReasonDedicated, Message: fmt.Sprintf("the instance %q is dedicated to another binding: no other binding can use it", name)}
	case instance.DeletionTimestamp != nil:
		return waits(reasonInstanceNotReady, "the instance %q is being deleted", name)
	case !s.binding.Spec.Decided() && !instance.Spec.Decided():
		return &lifecycle.Problem{Reason: reasonUnresolved, Waits: true, Undecided: true, Message: fmt.Sprintf("no plan is decided on yet for the instance %q", name)}
	case s.offering == nil:
		return waits(reasonUnresolved, "the class or plan of the instance %q is not there", name)
	case !s.offering.Bindable():
		return dedicated.NotBindable(s.offering.PlanName)
	case instance.Status.ProvisionStatus != v1beta1.Provisioned || instance.Status.ExternalProperties == nil:
		return waits(reasonInstanceNotReady, "the instance %q is not provisioned yet", name)
	case instance.Status.CurrentOperation != "":
		return waits(reasonInstanceNotReady, "the instance %q is being changed", name)
	case instance.Status.Unusable:
		return waits(reasonInstanceNotReady, "the broker says that the instance %q cannot be used until it is repaired", name)
	}
	return nil
}

// asks is the desired request to the broker, with the plan that the instance
// has there.
func (s *bindingResource) asks(ctx context.Context, instance *v1beta1.ServiceInstance, found *inputs) error {
	var err error
	s.parameters, found.Problem, err = s.bindings.parameters.Read(ctx, s.binding, s.binding.Spec.Parameters, s.binding.Spec.ParametersFrom)
	if found.Problem != nil || err != nil {
		return err
	}
	found.Problem, err = s.bindings.parameters.Unlawful(ctx, &s.parameters, s.offering.Plan.ServiceBindingCreateParameterSchema)
	if found.Problem != nil || err != nil {
		return err
	}
	return s.aims(ctx, instance, found)
}

// aims is the desired request with the parameters that were read.
func (s *bindingResource) aims(ctx context.Context, instance *v1beta1.ServiceInstance, found *inputs) error {
	var err error
	if s.origin, err = s.platform.Origin(ctx, s.binding.Namespace, instance); err != nil {
		return err
	}
	s.ask = &lifecycle.Desired{Rule: s.rule(), Request: lifecycle.Request{
		BrokerTarget: s.targetOf(instance), InstanceID: idOf(instance),
		Parameters: s.parameters.Shown, ParameterChecksum: s.parameters.Checksum, User: s.binding.Spec.UserInfo,
	}}
	found.Desired = s.ask
	return nil
}
