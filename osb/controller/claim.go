package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/events"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// Reasons that only bindings with a dedicated instance have. Until it is ready,
// and during its deletion, they have the instance's own reasons, too.
const (
	reasonProvisioning    = "Provisioning"
	reasonDeprovisioning  = "Deprovisioning"
	reasonInstanceRefused = "InstanceRefused"
	reasonInstanceTaken   = "InstanceNameTaken"
	// reasonInstanceGone: what was in it is lost, so that another would not do instead.
	reasonInstanceGone = "InstanceGone"
	// reasonInstanceGoing is of a binding that can be used as long as it is not deleted.
	reasonInstanceGoing = "InstanceBeingDeleted"
	// reasonDedicated is the reason of a binding to an instance that is
	// dedicated to another.
	reasonDedicated = "InstanceDedicated"
)

// A dedicated manages the instance that a binding has for itself, during one pass.
type dedicated struct {
	binding *v1beta1.ServiceBinding
	catalog catalogReader
	store   store
	events  *events.Events
	// claimed is what claim found or made; zero for a binding without such an instance.
	claimed claimed
}

// A claimed is the dedicated instance of a binding.
type claimed struct {
	// instance is nil if it does not exist, or if the instance of its name is
	// another's.
	instance *v1beta1.ServiceInstance
	// problem is why there is none to bind to.
	problem *lifecycle.Problem
}

// ofOwn says whether an instance is dedicated to the binding.
func (d *dedicated) ofOwn(instance *v1beta1.ServiceInstance) bool {
	owner, is := instance.DedicatedTo()
	return is && owner.UID == d.binding.UID
}

// ofAnother says whether an instance is dedicated to another binding.
func (d *dedicated) ofAnother(instance *v1beta1.ServiceInstance) bool {
	_, dedicated := instance.DedicatedTo()
	return dedicated && !d.ofOwn(instance)
}

// void is a problem that is reported although the binding is bound; nil: there
// is none.
func (d *dedicated) void() *lifecycle.Problem {
	if problem := d.claimed.problem; problem != nil && problem.Voids {
		return problem
	}
	return nil
}

// claim manages the dedicated instance of the binding: it is created once, and
// deleted when nothing is bound to it any more. The binding is bound to it; an
// instance of that name that is another's does not count.
func (d *dedicated) claim(ctx context.Context, thing *lifecycle.Resource, cached *v1beta1.ServiceInstance, found *inputs) (*v1beta1.ServiceInstance, error) {
	var err error
	switch {
	case thing.Deleting:
		return d.parts(ctx, thing, found)
	case cached != nil:
		d.claimed = d.takes(cached)
	case d.binding.Status.InstanceRef != nil:
		d.claimed, err = d.misses(ctx)
	default:
		d.claimed, err = d.demands(ctx)
	}
	return d.claimed.instance, err
}

// takes is the instance of that name, if it is dedicated to the binding.
func (d *dedicated) takes(instance *v1beta1.ServiceInstance) claimed {
	if d.ofOwn(instance) {
		return claimed{instance: instance}
	}
	return claimed{problem: &lifecycle.Problem{
		Reason: reasonInstanceTaken, Waits: true,
		Message: fmt.Sprintf("there is an instance %q that is not this binding's; it is left as it is: remove it, or make another binding", instance.Name),
	}}
}

// live reads the instance of that name from the API server; nil: it does not
// exist.
func (d *dedicated) live(ctx context.Context) (*v1beta1.ServiceInstance, error) {
	instance := &v1beta1.ServiceInstance{}
	at := d.binding.InstanceKey()
	err := d.store.live.Get(ctx, at, instance)
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
func (d *dedicated) misses(ctx context.Context) (claimed, error) {
	instance, err := d.live(ctx)
	if err != nil {
		return claimed{}, err
	}
	if instance != nil {
		return d.takes(instance), nil
	}
	return claimed{problem: &lifecycle.Problem{
		Reason: reasonInstanceGone, Voids: true,
		Message: fmt.Sprintf("its instance %q is gone, with its data, and is not created again: delete the binding, and create another", d.binding.InstanceKey().Name),
	}}, nil
}

// demands creates the instance, once a plan is decided that can be bound to.
func (d *dedicated) demands(ctx context.Context) (claimed, error) {
	offered, problem, err := d.catalog.offering(ctx, &d.binding.Spec.DecidedReference, d.binding.Namespace)
	switch {
	case problem != nil || err != nil:
		return claimed{problem: problem}, err
	case !offered.bindable():
		return claimed{problem: notBindable(offered)}, nil
	}
	wanted, err := v1beta1.DedicatedInstance(d.binding)
	if err != nil {
		return claimed{problem: &lifecycle.Problem{Reason: reasonUnresolved, Message: err.Error()}}, nil //nolint:nilerr // the record is the user's to mend
	}
	// Without the finalizer the binding could be deleted before its instance.
	if !controllerutil.ContainsFinalizer(d.binding, v1beta1.FinalizerServiceCatalog) {
		if err := d.store.addFinalizer(ctx, d.binding); err != nil {
			return claimed{}, err
		}
	}
	return d.makes(ctx, wanted)
}

// makes creates the instance. One that exists already was created by a pass
// whose status write was lost, or it is another's.
func (d *dedicated) makes(ctx context.Context, wanted *v1beta1.ServiceInstance) (claimed, error) {
	err := d.store.client.Create(ctx, wanted, client.FieldOwner(v1beta1.FieldOwnerController))
	switch {
	case apierrors.IsAlreadyExists(err):
		instance, err := d.live(ctx)
		if err != nil || instance == nil {
			return claimed{problem: provisioning(wanted.Name)}, err
		}
		return d.takes(instance), nil
	case apierrors.IsForbidden(err) || apierrors.IsInvalid(err):
		return claimed{problem: &lifecycle.Problem{
			Reason: reasonInstanceRefused, Waits: true, Message: fmt.Sprintf("its instance could not be made: %s", err),
		}}, nil
	case err != nil:
		return claimed{}, fmt.Errorf("cannot create instance %q: %w", wanted.Name, err)
	}
	d.events.Tell(d.binding, &lifecycle.Event{Reason: "InstanceCreated", Message: fmt.Sprintf("its instance %q was made", wanted.Name)})
	return claimed{instance: wanted}, nil
}

func notBindable(o *offering) *lifecycle.Problem {
	return &lifecycle.Problem{Reason: reasonNotBindable, Message: fmt.Sprintf("instances of the plan %q cannot be bound to", o.planName)}
}
