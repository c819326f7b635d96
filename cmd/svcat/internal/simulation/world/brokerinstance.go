package world

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/catalog"
	"github.com/defaultplan/defaultplan/osb/controller/dedicated"
	"github.com/defaultplan/defaultplan/osb/controller/dependents"
	"github.com/defaultplan/defaultplan/osb/controller/policies"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// instance provisions or updates an instance, or lets it go.
func (b *brokers) instance(ctx context.Context, at client.ObjectKey) (bool, error) {
	instance := &v1beta1.ServiceInstance{}
	if err := b.client.Get(ctx, at, instance); err != nil {
		return false, client.IgnoreNotFound(err) //nolint:wrapcheck // the caller names the object
	}
	thing := lifecycle.OfInstance(instance)
	if quota.Unsure(instance) && !abandoned(&thing) {
		return false, nil // what runs at its broker may end in either way
	}
	if instance.DeletionTimestamp != nil {
		return b.deprovision(ctx, instance, &thing)
	}
	if some, err := b.withdraw(ctx, instance); err != nil || some {
		return some, err
	}
	asked, err := b.request(ctx, instance, &thing)
	if err != nil || asked == nil {
		return false, err
	}
	r, existed := &thing.Record, thing.Record.Exists
	r.Exists, r.Absent, r.Applied, r.InProgress = true, false, asked, nil
	r.DeprovisionStatus = lifecycle.DeprovisionRequired
	r.ObservedGeneration, r.ReconciledGeneration = instance.Generation, instance.Generation
	instance.Status = r.InstanceStatus(instance.Status)
	if err := b.client.Status().Update(ctx, instance); err != nil {
		return true, err //nolint:wrapcheck // the caller names the object
	}
	return true, b.wake(ctx, at, existed)
}

// abandoned says whether an object that is being deleted goes without a word to its broker.
func abandoned(thing *lifecycle.Resource) bool { return thing.Deleting && thing.Abandoned }

// deprovision lets an instance go that no binding keeps, or that is abandoned. Those that go with it
// are deleted first.
func (b *brokers) deprovision(ctx context.Context, instance *v1beta1.ServiceInstance, thing *lifecycle.Resource) (bool, error) {
	written := b.writes()
	holders, err := dependents.Reader{Client: b.client, Live: b.client}.Of(ctx, instance)
	if err != nil || len(holders) > 0 && !abandoned(thing) {
		return b.writes() > written, err //nolint:wrapcheck // the caller names the object
	}
	return b.release(ctx, instance)
}

// withdraw deletes the bindings of namespaces that an instance is not shared with any more, where its
// sharing asks for that.
func (b *brokers) withdraw(ctx context.Context, instance *v1beta1.ServiceInstance) (some bool, err error) {
	if sharing := instance.Spec.Sharing; sharing == nil || sharing.WhenWithdrawn != v1beta1.WithdrawnUnbind {
		return false, nil
	}
	bindings, err := b.bindingsTo(ctx, client.ObjectKeyFromObject(instance))
	for i := 0; err == nil && i < len(bindings); i++ {
		binding := bindings[i].DeepCopy()
		var shared bool
		if shared, err = b.shares(ctx, instance, binding); err == nil && !shared && binding.DeletionTimestamp == nil {
			some, err = true, b.client.Delete(ctx, binding)
		}
	}
	return some, err
}

// request is what the controller sends to provision or update an instance; nil: nothing.
func (b *brokers) request(ctx context.Context, instance *v1beta1.ServiceInstance, thing *lifecycle.Resource) (*lifecycle.Request, error) {
	reader := catalog.NewReader(b.client)
	offering, problem, err := reader.OfInstance(ctx, instance)
	if err != nil || problem != nil || offering == nil {
		return nil, err //nolint:wrapcheck // the caller names the object
	}
	desired := &lifecycle.Desired{Request: lifecycle.Request{
		BrokerTarget: offering.Target, PlanName: offering.PlanName, PlanRefName: offering.PlanRefName, Cluster: offering.Cluster,
	}}
	if !policies.NeedsSlot(thing, desired) {
		return edited(thing), nil
	}
	if offering.Removed && (thing.Record.Exists || !thing.Adopts()) {
		return nil, nil
	}
	if thing.Record.Exists {
		updatable, err := reader.PlanUpdatable(ctx, offering, instance.Namespace, thing.Record.Applied)
		if err != nil || !updatable {
			return nil, err //nolint:wrapcheck // the caller names the object
		}
	}
	problem, err = b.rules().DeniesInstance(ctx, &policies.Instance{Resource: thing, Desired: desired, Target: &offering.Offer.Target, Namespace: instance.Namespace})
	if err != nil || problem != nil {
		return nil, err //nolint:wrapcheck // the caller names the object
	}
	problem, err = b.slots().Lacks(ctx, policies.InstanceRequest(instance))
	if err != nil || problem != nil {
		return nil, err //nolint:wrapcheck // the caller names the object
	}
	return &desired.Request, nil
}

// edited is what an instance has at its broker, where its spec was edited otherwise than in its plan:
// the broker changes nothing then that others depend on. nil: it was not.
func edited(thing *lifecycle.Resource) *lifecycle.Request {
	if thing.Generation == thing.Record.ObservedGeneration {
		return nil
	}
	return thing.Record.Applied
}

// wake has bindings wait no longer for their instance: all where it was provisioned, and where it was
// updated those that could not be bound to its former plan.
func (b *brokers) wake(ctx context.Context, instance client.ObjectKey, updated bool) error {
	bindings, err := b.bindingsTo(ctx, instance)
	for i := range bindings {
		binding := &bindings[i]
		if !updated || reasonOf(binding.Status.Conditions) == dedicated.NotBindable("").Reason {
			b.waiting[Key{kindBinding, binding.Namespace, binding.Name}] = true
		}
	}
	return err
}
