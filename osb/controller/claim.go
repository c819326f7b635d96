package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/catalog"
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

// A claimed is the dedicated instance of a binding.
type claimed struct {
	// instance is nil if it does not exist, or if the instance of its name is
	// another's.
	instance *v1beta1.ServiceInstance
	// problem is why there is none to bind to.
	problem *lifecycle.Problem
}

// ofOwn says whether an instance is dedicated to the binding.
func (s *bindingResource) ofOwn(instance *v1beta1.ServiceInstance) bool {
	owner, is := instance.DedicatedTo()
	return is && owner.UID == s.binding.UID
}

// ofAnother says whether an instance is dedicated to another binding.
func (s *bindingResource) ofAnother(instance *v1beta1.ServiceInstance) bool {
	_, dedicated := instance.DedicatedTo()
	return dedicated && !s.ofOwn(instance)
}

// void is a problem that is reported although the binding is bound; nil: there
// is none.
func (s *bindingResource) void() *lifecycle.Problem {
	if problem := s.claimed.problem; problem != nil && problem.Voids {
		return problem
	}
	return nil
}

// claim manages the dedicated instance of the binding: it is created once, and
// deleted when nothing is bound to it any more. The binding is bound to it; an
// instance of that name that is another's does not count.
func (s *bindingResource) claim(ctx context.Context, thing *lifecycle.Resource, cached *v1beta1.ServiceInstance, found *inputs) (*v1beta1.ServiceInstance, error) {
	var err error
	switch {
	case thing.Deleting:
		return s.parts(ctx, thing, found)
	case cached != nil:
		s.claimed = s.takes(cached)
	case s.binding.Status.InstanceRef != nil:
		s.claimed, err = s.misses(ctx)
	default:
		s.claimed, err = s.demands(ctx)
	}
	return s.claimed.instance, err
}

// takes is the instance of that name, if it is dedicated to the binding.
func (s *bindingResource) takes(instance *v1beta1.ServiceInstance) claimed {
	if s.ofOwn(instance) {
		return claimed{instance: instance}
	}
	return claimed{problem: &lifecycle.Problem{
		Reason: reasonInstanceTaken, Waits: true,
		Message: fmt.Sprintf("there is an instance %q that is not this binding's; it is left as it is: remove it, or make another binding", instance.Name),
	}}
}

// live reads the instance of that name from the API server; nil: it does not
// exist.
func (s *bindingResource) live(ctx context.Context) (*v1beta1.ServiceInstance, error) {
	instance := &v1beta1.ServiceInstance{}
	at := s.binding.InstanceKey()
	err := s.store.live.Get(ctx, at, instance)
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
func (s *bindingResource) misses(ctx context.Context) (claimed, error) {
	instance, err := s.live(ctx)
	if err != nil {
		return claimed{}, err
	}
	if instance != nil {
		return s.takes(instance), nil
	}
	return claimed{problem: &lifecycle.Problem{
		Reason: reasonInstanceGone, Voids: true,
		Message: fmt.Sprintf("its instance %q is gone, with its data, and is not created again: delete the binding, and create another", s.binding.InstanceKey().Name),
	}}, nil
}

// demands creates the instance, once a plan is decided that can be bound to.
func (s *bindingResource) demands(ctx context.Context) (claimed, error) {
	offered, problem, err := s.catalog.Decided(ctx, &s.binding.Spec.DecidedReference, s.binding.Namespace)
	switch {
	case problem != nil || err != nil:
		return claimed{problem: problem}, err
	case !offered.Bindable():
		return claimed{problem: notBindable(offered)}, nil
	}
	wanted, err := v1beta1.DedicatedInstance(s.binding)
	if err != nil {
		return claimed{problem: &lifecycle.Problem{Reason: reasonUnresolved, Message: err.Error()}}, nil //nolint:nilerr // the record is the user's to mend
	}
	// Without the finalizer the binding could be deleted before its instance.
	if !controllerutil.ContainsFinalizer(s.binding, v1beta1.FinalizerServiceCatalog) {
		if err := s.store.addFinalizer(ctx, s.binding); err != nil {
			return claimed{}, err
		}
	}
	return s.makes(ctx, wanted)
}

// makes creates the instance. One that exists already was created by a pass
// whose status write was lost, or it is another's.
func (s *bindingResource) makes(ctx context.Context, wanted *v1beta1.ServiceInstance) (claimed, error) {
	err := s.store.client.Create(ctx, wanted, client.FieldOwner(v1beta1.FieldOwnerController))
	switch {
	case apierrors.IsAlreadyExists(err):
		instance, err := s.live(ctx)
		if err != nil || instance == nil {
			return claimed{problem: provisioning(wanted.Name)}, err
		}
		return s.takes(instance), nil
	case apierrors.IsForbidden(err) || apierrors.IsInvalid(err):
		return claimed{problem: &lifecycle.Problem{
			Reason: reasonInstanceRefused, Waits: true, Message: fmt.Sprintf("its instance could not be made: %s", err),
		}}, nil
	case err != nil:
		return claimed{}, fmt.Errorf("cannot create instance %q: %w", wanted.Name, err)
	}
	s.events.Tell(s.binding, &lifecycle.Event{Reason: "InstanceCreated", Message: fmt.Sprintf("its instance %q was made", wanted.Name)})
	return claimed{instance: wanted}, nil
}

func notBindable(o *catalog.Offering) *lifecycle.Problem {
	return &lifecycle.Problem{Reason: reasonNotBindable, Message: fmt.Sprintf("instances of the plan %q cannot be bound to", o.PlanName)}
}
