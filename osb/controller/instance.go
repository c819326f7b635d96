package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// instances reconciles ServiceInstances.
type instances struct {
	*engine

	reader     client.Reader
	catalog    catalogReader
	platform   *platform
	parameters parametersReader
	holders    holders
}

// Reconcile takes one instance through one pass.
func (r *instances) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	instance := &v1beta1.ServiceInstance{}
	if err := r.reader.Get(ctx, request.NamespacedName, instance); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if instance.DeletionTimestamp != nil && !controllerutil.ContainsFinalizer(instance, v1beta1.FinalizerServiceCatalog) {
		return reconcile.Result{}, nil
	}
	return again(r.pass(ctx, &instanceSubject{instances: r, instance: instance}))
}

// An instanceSubject is an instance during one pass.
type instanceSubject struct {
	*instances

	instance *v1beta1.ServiceInstance
	// What gather found, for the call.
	ask        *lifecycle.Ask
	offering   *offering
	parameters parameters
	origin     origin
	changes    lifecycle.Changes
}

func (s *instanceSubject) object() client.Object  { return s.instance }
func (s *instanceSubject) thing() lifecycle.Thing { return lifecycle.OfInstance(s.instance) }

// with is a copy with a record as its status, and with the names that old clients show.
func (s *instanceSubject) with(o client.Object, record *lifecycle.Record) client.Object {
	next := o.DeepCopyObject().(*v1beta1.ServiceInstance) //nolint:forcetypeassert // an instance's subject
	next.Status = record.InstanceStatus(next.Status)
	next.Status.UserSpecifiedClassName, next.Status.UserSpecifiedPlanName = specified(&s.instance.Spec.PlanReference)
	return next
}

// gather finds out what the spec asks for, and who waits for whom.
func (s *instanceSubject) gather(ctx context.Context, thing *lifecycle.Thing) (gathered, error) {
	found := gathered{}
	found.reread = len(s.instance.Spec.ParametersFrom) > 0 || len(s.platform.annotations) > 0
	if err := s.look(ctx, thing, &found); err != nil {
		return found, err
	}
	found.redactor = s.parameters.redactor
	target := thing.Record.Target()
	asks := !thing.Deleting && !thing.Record.Mitigating && !thing.Record.Async && s.ask != nil
	if asks {
		target = &s.ask.Sent
	}
	if target != nil {
		found.broker = keyOf(&target.BrokerTarget, s.instance.Namespace)
	}
	known, ok, err := s.brokers.find(ctx, found.broker)
	if err != nil {
		return found, err
	}
	found.BrokerGone, found.BrokerReady = !ok, ok && known.ready()
	if !ok && asks {
		found.Ask, found.Problem = nil, &lifecycle.Problem{
			Reason: "ReferencesNonexistentBroker", Waits: true, Message: fmt.Sprintf("the class's broker, %s, is not there", found.broker),
		}
	}
	if thing.Deleting {
		found.Holders, err = s.holders.of(ctx, s.instance)
	}
	found.reread = found.reread || found.Problem != nil || len(found.Holders) > 0
	return found, err
}

// look reads what the spec refers to.
func (s *instanceSubject) look(ctx context.Context, thing *lifecycle.Thing, found *gathered) error {
	o, problem, err := s.catalog.offering(ctx, &s.instance.Spec.DecidedReference, s.instance.Namespace)
	if err != nil {
		return err
	}
	if o != nil {
		found.Fetchable, found.MaxPolling = o.class.InstancesRetrievable, o.maxPolling()
		complete(thing, &o.target)
	}
	if problem != nil || thing.Deleting {
		found.Problem = problem
		// Nothing of them is sent; but what the broker says may hold what it was sent.
		s.parameters, _, err = s.instances.parameters.read(ctx, s.instance, s.instance.Spec.Parameters, s.instance.Spec.ParametersFrom)
		return err
	}
	s.offering = o
	if found.Problem = s.removed(thing); found.Problem != nil {
		return nil
	}
	if s.parameters, found.Problem, err = s.instances.parameters.read(ctx, s.instance, s.instance.Spec.Parameters, s.instance.Spec.ParametersFrom); found.Problem != nil || err != nil {
		return err
	}
	if s.origin, err = s.platform.origin(ctx, s.instance.Namespace, s.instance); err != nil {
		return err
	}
	ask := s.asks()
	found.Problem = s.unlawful(thing, ask)
	if found.Problem == nil {
		s.ask, found.Ask = ask, ask
		s.changes = thing.Changes(ask)
	}
	return nil
}

// complete adds to what the retired catalog recorded what it left out.
func complete(thing *lifecycle.Thing, target *v1beta1.BrokerTarget) {
	for _, sent := range []*lifecycle.Sent{thing.Record.Accepted, thing.Record.InProgress} {
		if sent == nil || sent.ClassExternalID != "" {
			continue
		}
		plan := sent.PlanExternalID
		sent.BrokerTarget = *target
		if plan != "" {
			sent.PlanExternalID = plan
		}
	}
}

// removed says that the plan is not offered any more to whoever does not have it yet.
func (s *instanceSubject) removed(thing *lifecycle.Thing) *lifecycle.Problem {
	has := thing.Record.Accepted
	if !s.offering.removed || thing.Record.Exists && has != nil && has.PlanExternalID == s.offering.target.PlanExternalID {
		return nil
	}
	return &lifecycle.Problem{
		Reason: "ReferencesDeletedServicePlan", Waits: true,
		Message: fmt.Sprintf("the broker does not offer the plan %q any more: choose another, or make a new instance", s.offering.planName),
	}
}

// asks is what the spec means to the broker.
func (s *instanceSubject) asks() *lifecycle.Ask {
	o := s.offering
	applied, _ := v1beta1.ParseAppliedDefaults(s.instance.Annotations[v1beta1.AnnotationAppliedDefaults])
	return &lifecycle.Ask{
		Sent: lifecycle.Sent{
			BrokerTarget: o.target, PlanName: o.planName, Cluster: o.cluster,
			Parameters: s.parameters.shown, ParameterChecksum: s.parameters.checksum, ContextChecksum: s.origin.checksum,
			MaintenanceVersion: o.maintenanceVersion(), UpdateRequests: s.instance.Spec.UpdateRequests, User: s.instance.Spec.UserInfo,
		},
		PlanUpdatable: o.planUpdatable(), AllowContextUpdates: o.class.AllowContextUpdates, Rule: applied.Rule,
	}
}

// unlawful checks what is to be sent against the schema that is for it.
func (s *instanceSubject) unlawful(thing *lifecycle.Thing, ask *lifecycle.Ask) *lifecycle.Problem {
	has := thing.Record.Accepted
	switch {
	case !thing.Record.Exists:
		return s.parameters.unlawful(s.offering.plan.InstanceCreateParameterSchema)
	case has != nil && has.ParameterChecksum != ask.ParameterChecksum:
		return s.parameters.unlawful(s.offering.plan.InstanceUpdateParameterSchema)
	}
	return nil
}

// call makes the one call of a decision.
func (s *instanceSubject) call(ctx context.Context, broker *osb.Client, d *lifecycle.Decision) lifecycle.Reply {
	var reply lifecycle.Reply
	r := &d.Record
	switch d.Step {
	case lifecycle.Make:
		reply.Response, reply.Err = broker.Provision(ctx, osb.ProvisionRequest{
			InstanceID: r.ID, ServiceID: s.ask.ClassExternalID, PlanID: s.ask.PlanExternalID,
			Organization: s.origin.organization, Space: s.origin.space, Context: s.origin.context,
			Parameters: s.parameters.raw, MaintenanceVersion: s.ask.MaintenanceVersion, Identity: identityOf(s.ask.User),
		})
	case lifecycle.Change:
		reply.Response, reply.Err = broker.Update(ctx, s.update(r))
	case lifecycle.Remove, lifecycle.Mitigate, lifecycle.Poll:
		s.follow(ctx, broker, d, &reply)
	case lifecycle.Fetch:
		id := r.ID
		if id == "" {
			id = s.instance.Spec.ExternalID
		}
		var fetched *osb.Instance
		fetched, reply.Err = broker.FetchInstance(ctx, osb.FetchRequest{
			InstanceID: id, ServiceID: s.ask.ClassExternalID, PlanID: s.ask.PlanExternalID,
		})
		if reply.Err == nil {
			reply.Found = &lifecycle.Found{Difference: s.differs(fetched), DashboardURL: fetched.DashboardURL}
		}
	case lifecycle.Rest, lifecycle.Release:
	}
	return reply
}

// update says what changes, and what was before.
func (s *instanceSubject) update(r *lifecycle.Record) osb.UpdateRequest {
	before := r.Accepted
	request := osb.UpdateRequest{
		InstanceID: r.ID, ServiceID: s.ask.ClassExternalID, Context: s.origin.context, Identity: identityOf(s.ask.User),
		Previous: osb.PreviousValues{
			ServiceID: before.ClassExternalID, PlanID: before.PlanExternalID, MaintenanceVersion: before.MaintenanceVersion,
			Organization: s.origin.organization, Space: s.origin.space,
		},
	}
	if s.changes.Plan {
		request.PlanID = s.ask.PlanExternalID
	}
	if s.changes.Parameters {
		request.Parameters = s.parameters.raw
		if request.Parameters == nil {
			request.Parameters = json.RawMessage("{}") // they were taken away
		}
	}
	if s.changes.Maintenance || s.changes.Plan {
		request.MaintenanceVersion = s.ask.MaintenanceVersion
	}
	return request
}

// errNothingRecorded keeps a call from being made for nobody knows what.
var errNothingRecorded = errors.New("nothing is recorded of what its broker was sent")

// follow removes or polls what is recorded: with the plan as the broker knows it.
func (s *instanceSubject) follow(ctx context.Context, broker *osb.Client, d *lifecycle.Decision, reply *lifecycle.Reply) {
	r := &d.Record
	target := atBroker(r)
	if target == nil {
		reply.Err = errNothingRecorded
		return
	}
	if d.Step == lifecycle.Poll {
		reply.Poll, reply.Err = broker.Poll(ctx, osb.PollRequest{
			InstanceID: r.ID, ServiceID: target.ClassExternalID, PlanID: target.PlanExternalID, Operation: r.Key,
		})
		return
	}
	request := osb.DeprovisionRequest{InstanceID: r.ID, ServiceID: target.ClassExternalID, PlanID: target.PlanExternalID}
	if d.Step == lifecycle.Remove { // a mitigation is nobody's wish
		request.Identity = identityOf(s.instance.Spec.UserInfo)
	}
	reply.Response, reply.Err = broker.Deprovision(ctx, request)
}

// atBroker is an instance as its broker has it. After an update of unknown outcome that
// may be as before or as after, and a removal that names the wrong plan may be refused:
// the tries to remove it take turns.
func atBroker(r *lifecycle.Record) *lifecycle.Sent {
	if r.Operation == lifecycle.Removing && r.Accepted != nil && r.InProgress != nil && r.Retries%2 == 1 {
		return r.InProgress
	}
	return r.Target()
}

// differs says in what an instance at the broker is not what is asked for. What the
// broker does not tell is taken to be the same, and what it adds is its own affair.
func (s *instanceSubject) differs(found *osb.Instance) string {
	switch {
	case found.ServiceID != "" && found.ServiceID != s.ask.ClassExternalID:
		return "it is of another class"
	case found.PlanID != "" && found.PlanID != s.ask.PlanExternalID:
		return "it is of another plan"
	case len(found.Parameters) == 0:
		return ""
	}
	values, err := merge.Decode(found.Parameters)
	if err != nil {
		return ""
	}
	for key, wanted := range s.parameters.values {
		has, told := values[key]
		if told && !equalJSON(has, wanted) {
			return fmt.Sprintf("its parameter %q has another value", key)
		}
	}
	return ""
}

func equalJSON(a, b any) bool {
	x, errA := merge.Canonical(a)
	y, errB := merge.Canonical(b)
	return errA == nil && errB == nil && string(x) == string(y)
}

// specified are the class and the plan as the user named them, as old clients show them.
func specified(ref *v1beta1.PlanReference) (class, plan string) {
	first := func(names ...string) string {
		for _, name := range names {
			if name != "" {
				return name
			}
		}
		return ""
	}
	if name := first(ref.ClusterServiceClassExternalName, ref.ClusterServiceClassExternalID, ref.ClusterServiceClassName); name != "" {
		class = "ClusterServiceClass/" + name
	}
	if name := first(ref.ServiceClassExternalName, ref.ServiceClassExternalID, ref.ServiceClassName); name != "" {
		class = "ServiceClass/" + name
	}
	return class, first(ref.ClusterServicePlanExternalName, ref.ClusterServicePlanExternalID, ref.ClusterServicePlanName,
		ref.ServicePlanExternalName, ref.ServicePlanExternalID, ref.ServicePlanName)
}
