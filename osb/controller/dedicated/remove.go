package dedicated

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// Remove deletes the dedicated instance of a binding that is being deleted, as
// soon as the binding is unbound, and says what remains of it. The read is
// live: a binding must not lose its finalizer because the cache does not have
// its instance yet.
func (r *Reconciler) Remove(ctx context.Context, binding *v1beta1.ServiceBinding, thing *lifecycle.Resource) (*v1beta1.ServiceInstance, *lifecycle.Problem, error) {
	instance, err := r.live(ctx, binding)
	if err != nil || instance == nil || !Of(binding, instance) {
		return instance, nil, err
	}
	remains := remaining(instance)
	switch {
	case controllerutil.ContainsFinalizer(binding, metav1.FinalizerOrphanDependents):
		// Its user asked for the instance to stay. The garbage collector
		// removes the owner reference, and then the instance is not dedicated
		// any more.
		remains = &lifecycle.Problem{Reason: ReasonDeprovisioning, Waits: true, Message: fmt.Sprintf("its instance %q stays, as --cascade=orphan asks for", instance.Name)}
		return instance, remains, nil
	case !thing.Parted() || binding.Status.Rotation != nil:
		return instance, remains, nil
	case thing.Abandoned && instance.Annotations[v1beta1.AnnotationAbandon] != "true":
		if err := r.abandons(ctx, instance); err != nil {
			return nil, nil, err
		}
	}
	if instance.DeletionTimestamp != nil {
		return instance, remains, nil
	}
	if err := r.Client.Delete(ctx, instance, client.Preconditions{UID: &instance.UID}); client.IgnoreNotFound(err) != nil {
		return nil, nil, fmt.Errorf("cannot delete instance %q with its binding: %w", instance.Name, err)
	}
	return instance, remains, nil
}

// abandons sets the abandon annotation on the instance: its broker is not
// called.
func (r *Reconciler) abandons(ctx context.Context, instance *v1beta1.ServiceInstance) error {
	next := instance.DeepCopy()
	if next.Annotations == nil {
		next.Annotations = map[string]string{}
	}
	next.Annotations[v1beta1.AnnotationAbandon] = "true"
	if err := r.Client.Patch(ctx, next, client.MergeFrom(instance), client.FieldOwner(v1beta1.FieldOwnerController)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot abandon instance %q with its binding: %w", instance.Name, err)
	}
	return nil
}
