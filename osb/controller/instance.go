package controller

import (
	"cmp"
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/osb/controller/broker"
	"github.com/defaultplan/defaultplan/osb/controller/catalog"
	"github.com/defaultplan/defaultplan/osb/controller/dependents"
	"github.com/defaultplan/defaultplan/osb/controller/parameters"
	"github.com/defaultplan/defaultplan/osb/controller/platform"
	"github.com/defaultplan/defaultplan/osb/controller/policies"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// instances reconciles ServiceInstances.
type instances struct {
	*engine

	reader     client.Reader
	catalog    catalog.Reader
	platform   *platform.Profile
	parameters parameters.Reader
	dependents dependents.Reader
	slots      *policies.Slots
	policies   *policies.Rules
}

// Reconcile takes one instance through one pass.
func (r *instances) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	r.rests.Forget(request.NamespacedName) // it is counted again where it comes to rest
	instance := &v1beta1.ServiceInstance{}
	if err := r.reader.Get(ctx, request.NamespacedName, instance); err != nil {
		return reconcile.Result{}, unread(ctx, err)
	}
	if instance.DeletionTimestamp != nil && !controllerutil.ContainsFinalizer(instance, v1beta1.FinalizerServiceCatalog) {
		return reconcile.Result{}, nil
	}
	found, err := owners{r.brokers}.handlerOfInstance(ctx, instance)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !found.by(r.brokers.Scope) && !r.standsIn(instance) {
		return queue.AfterConflict(r.leave(ctx, instance, found))
	}
	return queue.AfterConflict(r.pass(ctx, &instanceResource{instances: r, instance: instance}))
}

// An instanceResource is an instance during one pass.
type instanceResource struct {
	*instances

	instance *v1beta1.ServiceInstance
	// What gather found, for the call.
	ask        *lifecycle.Desired
	offering   *catalog.Offering
	parameters parameters.Set
	origin     platform.Origin
	changes    lifecycle.Changes
	// needsSlots says that what is asked for needs slots of policies with limits.
	needsSlots bool
}

func (s *instanceResource) object() client.Object     { return s.instance }
func (s *instanceResource) thing() lifecycle.Resource { return lifecycle.OfInstance(s.instance) }

// with is a copy with a record as its status, and with the names that old clients show.
func (s *instanceResource) with(o client.Object, record *lifecycle.Record) client.Object {
	next := o.DeepCopyObject().(*v1beta1.ServiceInstance) //nolint:forcetypeassert // an instance's resource
	next.Status = record.InstanceStatus(next.Status)
	next.Status.ControllerName = s.nameFor(o, next.Status.ControllerName)
	next.Status.UserSpecifiedClassName, next.Status.UserSpecifiedPlanName = specified(&s.instance.Spec.PlanReference)
	next.Status.ServiceType = s.offering.TypeBeside(s.instance.Spec.ServiceType, next.Status.ServiceType)
	return next
}

// gather finds out what the spec asks for, and what it waits for.
func (s *instanceResource) gather(ctx context.Context, thing *lifecycle.Resource) (inputs, error) {
	found := inputs{}
	found.reread = len(s.instance.Spec.ParametersFrom) > 0 || len(s.platform.Annotations) > 0
	var err error
	if thing.Deleting {
		if found.Holders, err = s.dependents.Known(ctx, s.instance); err != nil {
			return found, err
		}
	}
	if err := s.resolveRefs(ctx, thing, &found); err != nil {
		return found, err
	}
	found.redactor = s.parameters.Redactor
	if err := s.locate(ctx, thing, &found); err != nil {
		return found, err
	}
	if thing.Deleting && len(found.Holders) == 0 {
		found.Holders, err = s.dependents.Of(ctx, s.instance)
	}
	found.reread = found.reread || found.Problem != nil || len(found.Holders) > 0
	return found, err
}

// resolveRefs reads what the spec refers to.
func (s *instanceResource) resolveRefs(ctx context.Context, thing *lifecycle.Resource, found *inputs) error {
	o, problem, err := s.catalog.OfInstance(ctx, s.instance)
	if err != nil {
		return err
	}
	if o != nil {
		found.Fetchable, found.MaxPolling = o.Class.InstancesRetrievable, o.MaxPolling()
		complete(thing, &o.Target)
		deleted, err := s.brokers.IsBeingDeleted(ctx, broker.KeyOf(&o.Target, s.instance.Namespace))
		if err != nil {
			return err
		}
		o.Removed = o.Removed || deleted
	}
	s.offering = o
	if err := s.place(ctx, thing, problem, *found); err != nil {
		return err
	}
	if len(found.Holders) > 0 {
		return nil // it waits for them, and its broker is not asked
	}
	// Also if nothing is sent: the broker's messages may quote what it was sent
	// before.
	var unread *lifecycle.Problem
	if s.parameters, unread, err = s.instances.parameters.Read(ctx, s.instance, s.instance.Spec.Parameters, s.instance.Spec.ParametersFrom); err != nil && !thing.Deleting {
		return err
	}
	if problem == nil && !thing.Deleting {
		problem = cmp.Or(s.removed(thing), unread)
	}
	if found.Problem = problem; problem != nil || thing.Deleting {
		return nil
	}
	ask, err := s.asks(ctx, thing)
	if err != nil {
		return err
	}
	if thing.OfRetired() {
		// An error is of what the retired catalog could not send: they were changed since.
		if sum, err := merge.RetiredChecksum(s.parameters.Values); err == nil {
			thing.Recognize(ask, sum)
		}
	}
	if found.Problem, err = s.refused(ctx, thing, ask); found.Problem == nil && err == nil {
		s.ask, found.Desired = ask, ask
		s.changes = thing.Changes(ask)
	}
	return err
}

// refused says which rule prevents sending what the spec asks for.
func (s *instanceResource) refused(ctx context.Context, thing *lifecycle.Resource, ask *lifecycle.Desired) (*lifecycle.Problem, error) {
	problem, err := s.denied(ctx, thing, ask)
	if problem == nil && err == nil {
		problem, err = s.unlawful(ctx, thing, ask)
	}
	if problem == nil && err == nil {
		problem, err = s.slotless(ctx, thing, ask)
	}
	return problem, err
}

// complete adds what the retired catalog did not record.
func complete(thing *lifecycle.Resource, target *v1beta1.BrokerTarget) {
	for _, sent := range []*lifecycle.Request{thing.Record.Applied, thing.Record.InProgress} {
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

// removed says whether the plan is no longer offered to an instance that does
// not have it yet.
func (s *instanceResource) removed(thing *lifecycle.Resource) *lifecycle.Problem {
	has := thing.Record.Applied
	if !s.offering.Removed || toAdopt(thing) || thing.Record.Exists && has != nil && has.PlanExternalID == s.offering.Target.PlanExternalID {
		return nil
	}
	return &lifecycle.Problem{
		Reason: "ReferencesDeletedServicePlan", Waits: true,
		Message: fmt.Sprintf("the broker does not offer the plan %q any more: choose another, or make a new instance", s.offering.PlanName),
	}
}

// asks is the desired request to the broker.
func (s *instanceResource) asks(ctx context.Context, thing *lifecycle.Resource) (*lifecycle.Desired, error) {
	o := s.offering
	var err error
	if s.origin, err = s.platform.Origin(ctx, s.instance.Namespace, s.instance); err != nil {
		return nil, err
	}
	updatable, err := s.catalog.PlanUpdatable(ctx, o, s.instance.Namespace, thing.Record.Applied)
	if err != nil {
		return nil, err
	}
	applied, _ := v1beta1.ParseAppliedDefaults(s.instance.Annotations[v1beta1.AnnotationAppliedDefaults])
	return &lifecycle.Desired{
		Request: lifecycle.Request{
			BrokerTarget: o.Target, PlanName: o.PlanName, PlanRefName: o.PlanRefName, Cluster: o.Cluster,
			Parameters: s.parameters.Shown, ParameterChecksum: s.parameters.Checksum, ContextChecksum: s.origin.Checksum,
			MaintenanceVersion: o.MaintenanceVersion(), UpdateRequests: s.instance.Spec.UpdateRequests, User: s.instance.Spec.UserInfo,
		},
		PlanUpdatable: updatable, AllowContextUpdates: o.Class.AllowContextUpdates, Rule: applied.Rule,
	}, nil
}

// unlawful validates what is to be sent by the plan's schema.
func (s *instanceResource) unlawful(ctx context.Context, thing *lifecycle.Resource, ask *lifecycle.Desired) (*lifecycle.Problem, error) {
	has := thing.Record.Applied
	switch {
	case toAdopt(thing):
		return nil, nil
	case !thing.Record.Exists:
		return s.instances.parameters.Unlawful(ctx, &s.parameters, s.offering.Plan.InstanceCreateParameterSchema)
	case has != nil && has.ParameterChecksum != ask.ParameterChecksum:
		return s.instances.parameters.Unlawful(ctx, &s.parameters, s.offering.Plan.InstanceUpdateParameterSchema)
	}
	return nil, nil
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
