package dedicated

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/catalog"
	"github.com/defaultplan/defaultplan/osb/controller/events"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// A State is the dedicated instance of a binding.
type State struct {
	// Instance is nil if it does not exist, or if the instance of its name is
	// another's.
	Instance *v1beta1.ServiceInstance
	// Problem is why there is none to bind to.
	Problem *lifecycle.Problem
}

// Of says whether an instance is dedicated to a binding.
func Of(binding *v1beta1.ServiceBinding, instance *v1beta1.ServiceInstance) bool {
	owner, is := instance.DedicatedTo()
	return is && owner.UID == binding.UID
}

// OfAnother says whether an instance is dedicated to another binding.
func OfAnother(binding *v1beta1.ServiceBinding, instance *v1beta1.ServiceInstance) bool {
	_, dedicated := instance.DedicatedTo()
	return dedicated && !Of(binding, instance)
}

// A Reconciler creates and deletes the dedicated instances of bindings.
type Reconciler struct {
	Client client.Client
	// Live reads from the API server.
	Live    client.Reader
	Catalog catalog.Reader
	Events  *events.Events
	// AddFinalizer adds the finalizer of the catalog to a binding.
	AddFinalizer func(context.Context, client.Object) error
}

// Ensure creates the dedicated instance of a binding, once. cached is the instance of its name
// in the cache, or nil. The binding is bound to it; an instance of that name that is another's
// does not count.
func (r *Reconciler) Ensure(ctx context.Context, binding *v1beta1.ServiceBinding, cached *v1beta1.ServiceInstance) (State, error) {
	switch {
	case cached != nil:
		return takes(binding, cached), nil
	case binding.Status.InstanceRef != nil:
		return r.misses(ctx, binding)
	}
	return r.demands(ctx, binding)
}

// takes is the instance of that name, if it is dedicated to the binding.
func takes(binding *v1beta1.ServiceBinding, instance *v1beta1.ServiceInstance) State {
	if Of(binding, instance) {
		return State{Instance: instance}
	}
	return State{Problem: &lifecycle.Problem{
		Reason: ReasonInstanceTaken, Waits: true,
		Message: fmt.Sprintf("there is an instance %q that is not this binding's; it is left as it is: remove it, or make another binding", instance.Name),
	}}
}

// live reads the instance of that name from the API server; nil: it does not
// exist.
func (r *Reconciler) live(ctx context.Context, binding *v1beta1.ServiceBinding) (*v1beta1.ServiceInstance, error) {
	instance := &v1beta1.ServiceInstance{}
	at := binding.InstanceKey()
	err := r.Live.Get(ctx, at, instance)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read instance %q: %w", at.Name, err)
	}
	return instance, nil
}

// misses handles an instance that was created and that the cache does not have.
// One that is gone is not created again: its users would find an empty one in
// its place.
func (r *Reconciler) misses(ctx context.Context, binding *v1beta1.ServiceBinding) (State, error) {
	instance, err := r.live(ctx, binding)
	if err != nil {
		return State{}, err
	}
	if instance != nil {
		return takes(binding, instance), nil
	}
	return State{Problem: &lifecycle.Problem{
		Reason: ReasonInstanceGone, Voids: true,
		Message: fmt.Sprintf("its instance %q is gone, with its data, and is not created again: delete the binding, and create another", binding.InstanceKey().Name),
	}}, nil
}

// demands creates the instance, once a plan is decided that can be bound to.
func (r *Reconciler) demands(ctx context.Context, binding *v1beta1.ServiceBinding) (State, error) {
	offered, problem, err := r.Catalog.Decided(ctx, &binding.Spec.DecidedReference, binding.Namespace)
	switch {
	case problem != nil || err != nil:
		return State{Problem: problem}, err
	case !offered.Bindable():
		return State{Problem: NotBindable(offered.PlanName)}, nil
	}
	wanted, err := v1beta1.DedicatedInstance(binding)
	if err != nil {
		return State{Problem: &lifecycle.Problem{Reason: ReasonUnresolved, Message: err.Error()}}, nil //nolint:nilerr // the record is the user's to mend
	}
	// Without the finalizer the binding could be deleted before its instance.
	if !controllerutil.ContainsFinalizer(binding, v1beta1.FinalizerServiceCatalog) {
		if err := r.AddFinalizer(ctx, binding); err != nil {
			return State{}, err
		}
	}
	return r.makes(ctx, binding, wanted)
}

// makes creates the instance. One that exists already was created by a pass
// whose status write was lost, or it is another's.
func (r *Reconciler) makes(ctx context.Context, binding *v1beta1.ServiceBinding, wanted *v1beta1.ServiceInstance) (State, error) {
	err := r.Client.Create(ctx, wanted, client.FieldOwner(v1beta1.FieldOwnerController))
	switch {
	case apierrors.IsAlreadyExists(err):
		instance, err := r.live(ctx, binding)
		if err != nil || instance == nil {
			return State{Problem: provisioning(wanted.Name)}, err
		}
		return takes(binding, instance), nil
	case apierrors.IsForbidden(err) || apierrors.IsInvalid(err):
		return State{Problem: &lifecycle.Problem{
			Reason: ReasonInstanceRefused, Waits: true, Message: fmt.Sprintf("its instance could not be made: %s", err),
		}}, nil
	case err != nil:
		return State{}, fmt.Errorf("cannot create instance %q: %w", wanted.Name, err)
	}
	r.Events.Tell(binding, &lifecycle.Event{Reason: "InstanceCreated", Message: fmt.Sprintf("its instance %q was made", wanted.Name)})
	return State{Instance: wanted}, nil
}
