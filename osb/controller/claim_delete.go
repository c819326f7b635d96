package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// parts deletes the dedicated instance of a binding that is being deleted, as
// soon as the binding is unbound, and says what remains of it. The read is
// live: a binding must not lose its finalizer because the cache does not have
// its instance yet.
func (d *dedicated) parts(ctx context.Context, thing *lifecycle.Resource, found *inputs) (*v1beta1.ServiceInstance, error) {
	instance, err := d.live(ctx)
	if err != nil || instance == nil || !d.ofOwn(instance) {
		return instance, err
	}
	found.Remains = remaining(instance)
	switch {
	case controllerutil.ContainsFinalizer(d.binding, metav1.FinalizerOrphanDependents):
		// Its user asked for the instance to stay. The garbage collector
		// removes the owner reference, and then the instance is not dedicated
		// any more.
		found.Remains = &lifecycle.Problem{Reason: reasonDeprovisioning, Waits: true, Message: fmt.Sprintf("its instance %q stays, as --cascade=orphan asks for", instance.Name)}
		return instance, nil
	case !thing.Parted() || d.binding.Status.Rotation != nil:
		return instance, nil
	case thing.Abandoned && instance.Annotations[v1beta1.AnnotationAbandon] != "true":
		if err := d.abandons(ctx, instance); err != nil {
			return nil, err
		}
	}
	if instance.DeletionTimestamp != nil {
		return instance, nil
	}
	if err := d.store.client.Delete(ctx, instance, client.Preconditions{UID: &instance.UID}); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("cannot delete instance %q with its binding: %w", instance.Name, err)
	}
	return instance, nil
}

// abandons sets the abandon annotation on the instance: its broker is not
// called.
func (d *dedicated) abandons(ctx context.Context, instance *v1beta1.ServiceInstance) error {
	next := instance.DeepCopy()
	if next.Annotations == nil {
		next.Annotations = map[string]string{}
	}
	next.Annotations[v1beta1.AnnotationAbandon] = "true"
	if err := d.store.client.Patch(ctx, next, client.MergeFrom(instance), client.FieldOwner(v1beta1.FieldOwnerController)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot abandon instance %q with its binding: %w", instance.Name, err)
	}
	return nil
}

// own is the binding that an instance is dedicated to; nil: it does not exist
// any more.
func (h holders) own(ctx context.Context, instance *v1beta1.ServiceInstance) (*v1beta1.ServiceBinding, error) {
	owner, is := instance.DedicatedTo()
	if !is {
		return nil, nil
	}
	binding := &v1beta1.ServiceBinding{}
	err := h.live.Get(ctx, client.ObjectKey{Namespace: instance.Namespace, Name: owner.Name}, binding)
	switch {
	case apierrors.IsNotFound(err) || err == nil && binding.UID != owner.UID:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot read binding %q, whose own the instance is: %w", owner.Name, err)
	}
	return binding, nil
}

// letsGo passes events after which the deletion of an instance may continue: a
// binding that is gone, and one that is unbound and waits for the instance.
func letsGo() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return true },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, is := e.ObjectOld.(*v1beta1.ServiceBinding)
			after, isStill := e.ObjectNew.(*v1beta1.ServiceBinding)
			return is && isStill && holds(before) && !holds(after)
		},
	}
}
