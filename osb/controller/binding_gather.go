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
	found.FromSecrets = len(s.binding.Spec.ParametersFrom) > 0 && !thing.Deleting
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
	if err := s.sharing.judge(ctx, thing, instance); err != nil {
		return found, err
	}
	if s.sharing.closed && thing.Record.Operation == lifecycle.NoOperation {
		instance = nil // nothing of it is told
	}
	if err := s.resolveRefs(ctx, thing, instance, &found); err != nil {
		return found, err
	}
	if err := s.locate(ctx, thing, &found); err != nil {
		return found, err
	}
	if thing.Deleting && len(s.binding.Spec.ParametersFrom) > 0 {
		if err := s.engine.enter(ctx, s, thing, &found); err != nil {
			return found, err
		}
	}
	if r := &thing.Record; thing.Deleting || r.Mitigating || r.Async {
		s.request.redact(ctx)
	}
	found.redactor = s.request.parameters.Redactor
	return found, nil
}

// claim manages the dedicated instance of the binding: it is created once, and deleted when
// nothing is bound to it any more.
func (s *bindingResource) claim(ctx context.Context, thing *lifecycle.Resource, cached *v1beta1.ServiceInstance, found *inputs) (instance *v1beta1.ServiceInstance, err error) {
	e := s.engine
	r := dedicated.Reconciler{Client: e.store.client, Live: e.store.live, Catalog: s.catalog, Events: e.events, AddFinalizer: e.store.addFinalizer}
	if thing.Deleting {
		instance, found.Remains, err = r.Remove(ctx, s.binding, thing)
		return instance, err
	}
	s.own, err = r.Ensure(ctx, s.binding, cached)
	return s.own.Instance, err
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
		lost, part, err := s.deposit.Lost(ctx, found.Fetchable)
		if err != nil {
			return err
		}
		found.PartLost = part
		if !lost && r.Operation == lifecycle.NoOperation && !r.FetchRequired {
			found.Desired = s.request.again(r.Applied)
			s.deposit.Confirm()
			return nil
		}
		found.SecretLost = lost
	} else if r.InProgress != nil && !r.Async && !r.Mitigating {
		var err error
		if found.Stored, found.ToldMore, err = s.deposit.Recover(ctx, r.ID); err != nil || found.Stored && !found.ToldMore {
			return err
		}
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
	if r.Exists {
		var repeated bool
		if found.Desired, repeated, err = s.request.repeat(ctx, s.to(instance)); repeated || err != nil {
			return err
		}
	}
	if err := s.asks(ctx, thing, instance, found); err != nil {
		return err
	}
	return s.supplied(ctx, thing, found)
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
	ready, _ := v1beta1.FindCondition(r.Conditions, v1beta1.ConditionReady)
	return s.deposit.Unable(ctx, s.serviceType(), ready.Reason == credentials.ReasonNotStored)
}

// unbindable says why, as far as the cache knows.
func (s *bindingResource) unbindable(r *lifecycle.Record, instance *v1beta1.ServiceInstance) *lifecycle.Problem {
	if problem := s.sharing.problem(); problem != nil {
		return problem
	}
	if problem := s.unready(instance); problem != nil && r.Operation == lifecycle.NoOperation {
		return problem
	}
	if instance == nil || s.offering == nil || instance.Status.ExternalProperties == nil {
		return &lifecycle.Problem{Reason: reasonNoInstance, Waits: true, Message: "what it was bound to is not there any more"}
	}
	if s.to(instance).replaced() {
		return &lifecycle.Problem{Reason: reasonNoInstance, Waits: true, Message: fmt.Sprintf(
			"what it was bound to is not there any more: the instance %q is another one of that name; delete the binding and create it again", s.binding.InstanceKey().Name)}
	}
	if s.binding.Namespace == metav1.NamespaceSystem { // a policy holds the controller to that: deploy/vap/kubesystem.yaml
		return &lifecycle.Problem{Reason: credentials.ReasonNotStored, Waits: true, Message: "nothing is made in kube-system: make the binding in another namespace"}
	}
	return nil
}

// unready says why the instance cannot be bound to yet.
func (s *bindingResource) unready(instance *v1beta1.ServiceInstance) *lifecycle.Problem {
	if problem := s.own.Unprovided(s.binding, instance); problem != nil {
		return problem
	}
	if instance != nil && dedicated.OfAnother(s.binding, instance) {
		return &lifecycle.Problem{Reason: dedicated.ReasonDedicated, Message: fmt.Sprintf("the instance %q is dedicated to another binding: no other binding can use it", instance.Name)}
	}
	return s.to(instance).unready()
}

// to is what the binding is for, with an instance as it was read.
func (s *bindingResource) to(instance *v1beta1.ServiceInstance) *bindTarget {
	return &bindTarget{binding: s.binding, instance: instance, offering: s.offering}
}

// asks is the desired request to the broker, if its parameters can be read. An adoption sends none.
func (s *bindingResource) asks(ctx context.Context, thing *lifecycle.Resource, instance *v1beta1.ServiceInstance, found *inputs) (err error) {
	sends := thing.Rotating || !thing.Adopts()
	found.Desired, found.Problem, err = s.request.read(ctx, s.to(instance), sends)
	return err
}

// offered reads what the instance is of, as far as it is there.
func (s *bindingResource) offered(ctx context.Context, thing *lifecycle.Resource, instance *v1beta1.ServiceInstance, found *inputs) error {
	o, _, err := s.catalog.OfInstance(ctx, instance)
	if err != nil || o == nil || o.ClassLost && mayBeFetched(thing) {
		return err
	}
	s.offering = o
	found.Fetchable, found.MaxPolling = o.Class.BindingRetrievable, o.MaxPolling()
	complete(thing, &o.Target)
	completeInstance(thing, instance)
	return nil
}

// mayBeFetched says whether the credentials of a binding exist at its broker,
// or are about to. Only its class says whether they can be fetched, and without
// it they would count as lost.
func mayBeFetched(t *lifecycle.Resource) bool {
	r := &t.Record
	return !t.Deleting && (r.Exists || r.FetchRequired || t.Adopts() || r.Async && r.Operation == lifecycle.Provisioning)
}

// place makes a pass over a binding that is not bound yet get its place in the
// queue before its Secret, those of its parameters, and the permissions of its
// user are read from the API server.
func (s *bindingResource) place(ctx context.Context, thing *lifecycle.Resource, instance *v1beta1.ServiceInstance, found inputs) error {
	r := &thing.Record
	if r.Exists || s.unbindable(r, instance) != nil || refusedAsItIs(thing) {
		return nil
	}
	problem, err := s.denied(ctx, r, instance)
	if problem == nil && err == nil {
		problem, err = s.slotless(ctx, r)
	}
	if problem == nil && err == nil {
		found.Desired, err = s.request.aim(ctx, s.to(instance))
	}
	if problem != nil || err != nil {
		return err
	}
	if sent := r.InProgress; sent != nil { // its Secrets are taken to hold what they held then
		found.Desired.Parameters, found.Desired.ParameterChecksum = sent.Parameters, sent.ParameterChecksum
	}
	err = s.locate(ctx, thing, &found)
	s.request.desired = nil
	if err != nil {
		return err
	}
	return s.engine.enter(ctx, s, thing, &found)
}

// locate finds the broker of the next call, and its state.
func (s *bindingResource) locate(ctx context.Context, thing *lifecycle.Resource, found *inputs) error {
	target := thing.Record.Target()
	if asked := s.request.desired; target == nil && asked != nil {
		target = &asked.Request
	}
	if target == nil {
		return nil
	}
	found.broker = broker.KeyOf(&target.BrokerTarget, s.binding.InstanceKey().Namespace)
	return s.engine.observe(ctx, found, &thing.Record)
}
