package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/catalog"
	"github.com/defaultplan/defaultplan/osb/controller/credentials"
	"github.com/defaultplan/defaultplan/osb/controller/dedicated"
	"github.com/defaultplan/defaultplan/osb/controller/endpoints"
	"github.com/defaultplan/defaultplan/osb/controller/owned"
	"github.com/defaultplan/defaultplan/osb/controller/parameters"
	"github.com/defaultplan/defaultplan/osb/controller/platform"
	"github.com/defaultplan/defaultplan/osb/controller/policies"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// bindings reconciles ServiceBindings.
type bindings struct {
	*engine

	reader     client.Reader
	catalog    catalog.Reader
	platform   *platform.Profile
	parameters parameters.Reader
	secrets    credentials.Secrets
	endpoints  endpoints.Validator
	slots      *policies.Slots
	policies   *policies.Rules
	rotating   lifecycle.Rotating
}

// Reconcile takes one binding through one pass.
func (r *bindings) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	r.rests.Forget(request.NamespacedName) // it is counted again where it comes to rest
	binding := &v1beta1.ServiceBinding{}
	if err := r.reader.Get(ctx, request.NamespacedName, binding); err != nil {
		return reconcile.Result{}, unread(ctx, err)
	}
	if binding.DeletionTimestamp != nil && !controllerutil.ContainsFinalizer(binding, v1beta1.FinalizerServiceCatalog) {
		return reconcile.Result{}, nil
	}
	found, err := owners{r.brokers}.handlerOfBinding(ctx, binding)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !found.by(r.brokers.Scope) && !r.standsIn(binding) {
		return queue.AfterConflict(r.leave(ctx, binding, found))
	}
	s := &bindingResource{bindings: r, binding: binding, now: r.clock.Now()}
	result, err := r.passes(ctx, s)
	if err == nil || queue.AwaitedBy(err) != nil {
		err = cmp.Or(s.endWithdrawn(ctx), err)
	}
	return queue.AfterConflict(result, err)
}

// A bindingResource is a binding during one pass.
type bindingResource struct {
	*bindings

	binding *v1beta1.ServiceBinding
	// What gather found, for the call.
	ask        *lifecycle.Desired
	offering   *catalog.Offering
	parameters parameters.Set
	origin     platform.Origin
	// secret is whose Secret has the name, or nil: that is not known.
	secret *owned.State
	// written is what the pass wrote beside the Secret.
	written written
	// needsSlots says that it needs slots of policies with limits.
	needsSlots bool
	// own is the instance that the binding has for itself.
	own dedicated.State
	// closed says that the instance is in another namespace and not shared with
	// this one.
	closed bool
	// now is when the pass began, and rests says that it had nothing to do nor to say.
	now   time.Time
	rests bool
	// other says that the call is for the other binding at the broker: its end is not that
	// of the Secret. predecessor is the one in force, where the broker is to be told.
	other       bool
	predecessor string
	deposited
}

// What a pass knows of credentials and of what they are those of.
type deposited struct {
	// id is that of the binding at the broker which the call is for.
	id string
	// holding is whose credentials the Secret holds.
	holding credentials.Metadata
	// issued is what is known of those that were stored in this pass; nil: none were.
	issued *v1beta1.CredentialsState
}

func (s *bindingResource) object() client.Object     { return s.binding }
func (s *bindingResource) thing() lifecycle.Resource { return lifecycle.OfBinding(s.binding) }

// with is a copy with a record as its status. The Secret is named once it is complete.
func (s *bindingResource) with(o client.Object, record *lifecycle.Record) client.Object {
	next := o.DeepCopyObject().(*v1beta1.ServiceBinding) //nolint:forcetypeassert // a binding's resource
	named := *record
	named.SecretName = ""
	if foreign := s.secret != nil && *s.secret == owned.Foreign; record.Exists && !foreign {
		named.SecretName = credentials.SecretName(s.binding)
	}
	next.Status = named.BindingStatus(next.Status)
	endpoints.CarryOver(&o.(*v1beta1.ServiceBinding).Status, &next.Status) //nolint:forcetypeassert // a binding's resource
	s.tell(&next.Status)
	next.Status.ControllerName = s.nameFor(o, next.Status.ControllerName)
	next.Status.ServiceType = s.offering.TypeBeside(s.binding.Spec.ServiceType, next.Status.ServiceType)
	s.own.Describe(&next.Status)
	s.date(next, record)
	return next
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
			reply.Err = s.hideSecret(ctx)
		}
	case lifecycle.Update, lifecycle.Poll, lifecycle.Fetch, lifecycle.Rest, lifecycle.Release:
	}
	return reply, reply.Err != nil
}

// call makes the one call of a decision.
func (s *bindingResource) call(ctx context.Context, broker *osb.Client, d *lifecycle.Decision) lifecycle.CallResult {
	var reply lifecycle.CallResult
	r := &d.Record
	s.id = r.ID
	switch d.Step {
	case lifecycle.Provision:
		reply.Response, reply.Err = broker.Bind(ctx, osb.BindRequest{
			InstanceID: s.ask.InstanceID, BindingID: r.ID, ServiceID: s.ask.ClassExternalID, PlanID: s.ask.PlanExternalID,
			AppGUID: s.origin.Space, Context: s.origin.Context, Parameters: s.parameters.Raw, Identity: platform.IdentityOf(s.ask.User),
			Predecessor: s.predecessor,
		})
		if reply.Err == nil && !reply.Response.Async {
			s.keep(ctx, reply.Response.Binding, d.First || !d.Again && reply.Response.Created, &reply)
		}
	case lifecycle.Deprovision, lifecycle.MitigateOrphan, lifecycle.Poll:
		s.follow(ctx, broker, d, &reply)
	case lifecycle.Fetch:
		var fetched *osb.Binding
		fetched, reply.Err = broker.FetchBinding(ctx, osb.FetchRequest{
			InstanceID: s.ask.InstanceID, BindingID: r.ID, ServiceID: s.ask.ClassExternalID, PlanID: s.ask.PlanExternalID,
		})
		if reply.Err == nil {
			s.keep(ctx, fetched, d.First, &reply)
		}
	case lifecycle.Update, lifecycle.Rest, lifecycle.Release:
	}
	return reply
}

// instanceStays reads the instance live, after the intent was written: a later
// deletion of the instance finds the intent, and waits.
func (s *bindingResource) instanceStays(ctx context.Context) error {
	var instance v1beta1.ServiceInstance
	at := s.binding.InstanceKey()
	if err := s.secrets.Live.Get(ctx, at, &instance); err != nil {
		return fmt.Errorf("cannot read instance %q: %w", at.Name, err)
	}
	switch {
	case instance.DeletionTimestamp != nil:
		return fmt.Errorf("the instance %q is being deleted", at.Name)
	case instance.Status.CurrentOperation != "":
		return fmt.Errorf("the instance %q is being changed", at.Name)
	}
	return s.staysShared(ctx, &instance)
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

// keep writes the credentials of a response to the Secret before anything else,
// because the broker may return them only once. Only the first response may
// have none; existing credentials are never overwritten by none.
func (s *bindingResource) keep(ctx context.Context, given *osb.Binding, first bool, reply *lifecycle.CallResult) {
	if given == nil {
		given = &osb.Binding{}
	}
	if !first && !credentials.Gives(given) || s.holdsThese() && len(given.Credentials) == 0 {
		return
	}
	// The credentials must not be lost because the call used up its time.
	ctx = context.WithoutCancel(ctx)
	if err := s.deposit(ctx, given); err != nil {
		reply.Credentials, reply.StoreProblem = lifecycle.NotStored, err.Error()
		if errors.As(err, new(credentials.UnstorableError)) {
			reply.Credentials = lifecycle.Unstorable
		}
		return
	}
	reply.Credentials, reply.EmptyBecause = lifecycle.Stored, s.written.emptyBecause
}

// holdsThese says whether the Secret has the credentials of this call's ID.
func (s *bindingResource) holdsThese() bool {
	return s.secret != nil && *s.secret == owned.Own && s.holding.ID == s.id && s.id != ""
}

// follow removes or polls what is recorded.
func (s *bindingResource) follow(ctx context.Context, broker *osb.Client, d *lifecycle.Decision, reply *lifecycle.CallResult) {
	r := &d.Record
	target := r.Target()
	if target == nil {
		reply.Err = errNothingRecorded
		return
	}
	if d.Step == lifecycle.Poll {
		reply.Poll, reply.Err = broker.Poll(ctx, osb.PollRequest{
			InstanceID: target.InstanceID, BindingID: r.ID, ServiceID: target.ClassExternalID, PlanID: target.PlanExternalID, Operation: r.Key,
		})
		return
	}
	request := osb.UnbindRequest{InstanceID: target.InstanceID, BindingID: r.ID, ServiceID: target.ClassExternalID, PlanID: target.PlanExternalID}
	if d.Step == lifecycle.Deprovision { // no user asks for a mitigation
		request.Identity = platform.IdentityOf(s.binding.Spec.UserInfo)
	}
	reply.Response, reply.Err = broker.Unbind(ctx, request)
}
