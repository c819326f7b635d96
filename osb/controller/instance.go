package controller

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/catalog"
	"github.com/defaultplan/defaultplan/osb/controller/dependents"
	"github.com/defaultplan/defaultplan/osb/controller/parameters"
	"github.com/defaultplan/defaultplan/osb/controller/platform"
	"github.com/defaultplan/defaultplan/osb/controller/policies"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// instances reconciles ServiceInstances.
type instances struct {
	engine     *engine
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
	instance := &v1beta1.ServiceInstance{}
	return r.engine.reconcile(ctx, request.NamespacedName, task{
		reader: r.reader, object: instance,
		handler: func(ctx context.Context) (handling, error) {
			return owners{r.engine.brokers}.handlerOfInstance(ctx, instance)
		},
		pass: func(ctx context.Context) (time.Duration, error) {
			done, err := r.engine.pass(ctx, r.resourceOf(instance))
			return done.after, err
		},
	})
}

// resourceOf is an instance at the begin of a pass.
func (r *instances) resourceOf(instance *v1beta1.ServiceInstance) *instanceResource {
	return &instanceResource{instances: r, instance: instance, request: instanceRequest{
		instance: instance, catalog: r.catalog, platform: r.platform, reader: r.parameters,
	}}
}

// An instanceResource is an instance during one pass.
type instanceResource struct {
	*instances

	instance *v1beta1.ServiceInstance
	request  instanceRequest
	// offering is what the instance is to be of; nil: that is not known.
	offering *catalog.Offering
	// needsSlots says that what is asked for needs slots of policies with limits.
	needsSlots bool
}

func (s *instanceResource) object() client.Object     { return s.instance }
func (s *instanceResource) thing() lifecycle.Resource { return lifecycle.OfInstance(s.instance) }

// with is a copy with a record as its status, and with the names that columns show.
func (s *instanceResource) with(o client.Object, record *lifecycle.Record) client.Object {
	next := o.DeepCopyObject().(*v1beta1.ServiceInstance) //nolint:forcetypeassert // an instance's resource
	next.Status = record.InstanceStatus(next.Status)
	next.Status.ControllerName = s.engine.nameFor(o, next.Status.ControllerName)
	s.describe(&next.Status)
	return next
}

// without is nil: the instance is all of its object.
func (s *instanceResource) without(client.Object) client.Object { return nil }

// finish leaves the outcome as it is, and has no other events.
func (s *instanceResource) finish(*lifecycle.Outcome, *lifecycle.Facts) []lifecycle.Event { return nil }

// call makes the one call of a decision.
func (s *instanceResource) call(ctx context.Context, broker *osb.Client, d *lifecycle.Decision) lifecycle.CallResult {
	return s.request.call(ctx, broker, d)
}
