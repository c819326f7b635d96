package controller

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/catalog"
	"github.com/defaultplan/defaultplan/osb/controller/credentials"
	"github.com/defaultplan/defaultplan/osb/controller/dedicated"
	"github.com/defaultplan/defaultplan/osb/controller/deposit"
	"github.com/defaultplan/defaultplan/osb/controller/endpoints"
	"github.com/defaultplan/defaultplan/osb/controller/parameters"
	"github.com/defaultplan/defaultplan/osb/controller/platform"
	"github.com/defaultplan/defaultplan/osb/controller/policies"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// bindings reconciles ServiceBindings.
type bindings struct {
	engine     *engine
	reader     client.Reader
	catalog    catalog.Reader
	platform   *platform.Profile
	parameters parameters.Reader
	deposits   deposit.Places
	slots      *policies.Slots
	policies   *policies.Rules
	rotating   lifecycle.Rotating
}

// Reconcile takes one binding through one pass.
func (r *bindings) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	binding := &v1beta1.ServiceBinding{}
	return r.engine.reconcile(ctx, request.NamespacedName, task{
		reader: r.reader, object: binding,
		handler: func(ctx context.Context) (handling, error) {
			return owners{r.engine.brokers}.handlerOfBinding(ctx, binding)
		},
		pass: func(ctx context.Context) (time.Duration, error) {
			s := r.resourceOf(binding)
			after, err := r.passes(ctx, s)
			if err == nil || queue.AwaitedBy(err) != nil {
				err = cmp.Or(s.sharing.end(ctx), err)
			}
			return after, err
		},
	})
}

// resourceOf is a binding at the begin of a pass.
func (r *bindings) resourceOf(binding *v1beta1.ServiceBinding) *bindingResource {
	e := r.engine
	now := e.clock.Now()
	return &bindingResource{
		bindings: r, binding: binding, now: now,
		request: bindRequest{binding: binding, platform: r.platform, reader: r.parameters},
		sharing: sharing{binding: binding, platform: r.platform, store: e.store, events: e.events, clock: e.clock},
		deposit: r.deposits.Of(binding, now, e.clock),
	}
}

// A bindingResource is a binding during one pass.
type bindingResource struct {
	*bindings

	binding *v1beta1.ServiceBinding
	request bindRequest
	// offering is what the instance is of; nil: that is not known.
	offering *catalog.Offering
	// needsSlots says that it needs slots of policies with limits.
	needsSlots bool
	// own is the instance that the binding has for itself.
	own     dedicated.State
	sharing sharing
	// now is when the pass began.
	now     time.Time
	deposit *deposit.Deposit
}

func (s *bindingResource) object() client.Object     { return s.binding }
func (s *bindingResource) thing() lifecycle.Resource { return lifecycle.OfBinding(s.binding) }

// with is a copy with a record as its status. The Secret is named once it is complete.
func (s *bindingResource) with(o client.Object, record *lifecycle.Record) client.Object {
	next := o.DeepCopyObject().(*v1beta1.ServiceBinding) //nolint:forcetypeassert // a binding's resource
	named := *record
	named.SecretName = ""
	if record.Exists && !s.deposit.Foreign() {
		named.SecretName = credentials.SecretName(s.binding)
	}
	next.Status = named.BindingStatus(next.Status)
	endpoints.CarryOver(&o.(*v1beta1.ServiceBinding).Status, &next.Status) //nolint:forcetypeassert // a binding's resource
	s.deposit.Tell(&next.Status)
	next.Status.ControllerName = s.engine.nameFor(o, next.Status.ControllerName)
	next.Status.ServiceType = s.offering.TypeBeside(s.binding.Spec.ServiceType, next.Status.ServiceType)
	s.own.Describe(&next.Status)
	// The age of the credentials, and whether they are current.
	if next.Status.Credentials = cmp.Or(s.deposit.Issued(), next.Status.Credentials); !record.Exists {
		next.Status.Credentials = nil
	}
	next.Status = s.rotating.Dated(next, s.now)
	return next
}

// without is nil: the binding is all of its object.
func (s *bindingResource) without(client.Object) client.Object { return nil }

// finish leaves the outcome as it is; its other events are those of the deposit.
func (s *bindingResource) finish(*lifecycle.Outcome, *lifecycle.Facts) []lifecycle.Event {
	return s.deposit.Events()
}

// prepare checks, right before a bind, that the instance is not being deleted
// and that the binding has its slots. Before an unbind it removes the Secret.
func (s *bindingResource) prepare(ctx context.Context, d *lifecycle.Decision) (lifecycle.CallResult, bool) {
	var reply lifecycle.CallResult
	switch d.Step {
	case lifecycle.Provision:
		if !d.Again {
			reply.Err = s.instanceStays(ctx)
		}
		if reply.Err == nil && s.needsSlots {
			reply = s.slots.Withholds(ctx, policies.BindingRequest(s.binding))
		}
	case lifecycle.Deprovision, lifecycle.MitigateOrphan:
		if d.Record.Target() != nil {
			reply.Err = s.deposit.Remove(ctx)
		}
	case lifecycle.Update, lifecycle.Poll, lifecycle.Fetch, lifecycle.Rest, lifecycle.Release:
	}
	return reply, reply.Err != nil
}

// call makes the one call of a decision, and keeps what the broker gives, unless it is not what
// is to be adopted.
func (s *bindingResource) call(ctx context.Context, broker *osb.Client, d *lifecycle.Decision) lifecycle.CallResult {
	reply, given := s.request.call(ctx, broker, d)
	if given == nil {
		return reply
	}
	if reply.Found = s.found(d, given.binding); reply.Found != nil && reply.Found.Difference != "" {
		return reply
	}
	given.call.Origin = s.provenance()
	s.deposit.Keep(ctx, &given.call, given.binding, &reply)
	return reply
}

// instanceStays reads the instance live, after the intent was written: a later
// deletion of the instance finds the intent, and waits.
func (s *bindingResource) instanceStays(ctx context.Context) error {
	var instance v1beta1.ServiceInstance
	at := s.binding.InstanceKey()
	if err := s.engine.store.live.Get(ctx, at, &instance); err != nil {
		return fmt.Errorf("cannot read instance %q: %w", at.Name, err)
	}
	switch {
	case instance.DeletionTimestamp != nil:
		return fmt.Errorf("the instance %q is being deleted", at.Name)
	case instance.Status.CurrentOperation != "":
		return fmt.Errorf("the instance %q is being changed", at.Name)
	}
	return s.sharing.stays(ctx, &instance)
}

// serviceType is the type that was decided for the binding. A binding without
// one, such as an older one, has the current type of its instance; empty if the
// class is gone.
func (s *bindingResource) serviceType() string {
	if own := s.binding.Spec.ServiceType; own != "" || s.offering == nil {
		return own
	}
	return s.offering.ServiceType()
}

// provenance is what the credentials are of, as far as it is known.
func (s *bindingResource) provenance() credentials.Origin {
	of := credentials.Origin{ServiceType: s.serviceType()}
	if s.offering != nil && s.offering.Class != nil {
		of.Class = s.offering.Class.ExternalName
	}
	return of
}
