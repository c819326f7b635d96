package controller

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/events"
	"github.com/defaultplan/defaultplan/osb/controller/platform"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// reasonWithdrawn is the reason of a binding to an instance that is not shared
// with its namespace.
const reasonWithdrawn = "SharingWithdrawn"

// admits says whether an instance is shared with a namespace, as reader has both.
func admits(ctx context.Context, reader client.Reader, instance *v1beta1.ServiceInstance, namespace string) (bool, error) {
	sharing := instance.Spec.Sharing
	if sharing == nil || sharing.NamespaceSelector == nil {
		return sharing.Admits(namespace, nil), nil
	}
	var ns corev1.Namespace
	if err := reader.Get(ctx, client.ObjectKey{Name: namespace}, &ns); err != nil {
		return false, fmt.Errorf("cannot read namespace %q: %w", namespace, err)
	}
	return sharing.Admits(namespace, ns.Labels), nil
}

// A sharing says whether the instance of another namespace is shared with that of a binding,
// during one pass.
type sharing struct {
	binding  *v1beta1.ServiceBinding
	platform *platform.Profile
	store    store
	events   *events.Events
	clock    clock.PassiveClock
	// closed says that the instance is in another namespace and not shared with
	// this one.
	closed bool
}

// judge checks whether the instance of another namespace is still shared
// with the binding's, and sets the binding's condition if it is not. An
// instance that does not exist gets the same message as one that is not shared:
// otherwise an old binding would reveal whether it exists.
func (s *sharing) judge(ctx context.Context, thing *lifecycle.Resource, instance *v1beta1.ServiceInstance) error {
	if !s.binding.Shares() || thing.Deleting {
		return nil
	}
	is := false
	if instance != nil {
		var err error
		if is, err = admits(ctx, s.platform.Reader, instance, s.binding.Namespace); err != nil {
			return err
		}
	}
	r := &thing.Record
	if s.closed = !is; is {
		r.Conditions = v1beta1.RemoveCondition(r.Conditions, v1beta1.ConditionShared)
		return nil
	}
	withdrawn := s.withdrawn(r.Exists)
	r.Conditions = v1beta1.SetCondition(r.Conditions, withdrawn, s.binding.Generation, metav1.Time{Time: s.clock.Now().Truncate(time.Second)})
	return nil
}

// withdrawn is the condition of a binding to an instance that is no longer
// shared.
func (s *sharing) withdrawn(bound bool) v1beta1.Condition {
	message := "it is not bound"
	if bound {
		message = "what it was given stays until the binding is deleted"
	}
	return v1beta1.Condition{
		Type: v1beta1.ConditionShared, Status: v1beta1.ConditionFalse, Reason: reasonWithdrawn,
		Message: fmt.Sprintf("the instance %q is not shared with this namespace any more; %s", s.binding.InstanceKey(), message),
	}
}

// problem is why neither a binding nor its Secret is created: the instance is
// not shared with its namespace. A binding that admission did not decide was
// never checked.
func (s *sharing) problem() *lifecycle.Problem {
	switch {
	case s.closed:
		return &lifecycle.Problem{
			Reason: reasonWithdrawn, Waits: true,
			Message: fmt.Sprintf("there is no instance %q that is shared with this namespace", s.binding.InstanceKey()),
		}
	case s.binding.Shares() && !s.binding.Spec.Decided():
		return &lifecycle.Problem{
			Reason: reasonUnresolved, Waits: true, Undecided: true,
			Message: fmt.Sprintf("admission has not let it bind to the instance %q of another namespace", s.binding.InstanceKey()),
		}
	}
	return nil
}

// stays checks the sharing live, right before the bind.
func (s *sharing) stays(ctx context.Context, instance *v1beta1.ServiceInstance) error {
	if !s.binding.Shares() {
		return nil
	}
	is, err := admits(ctx, s.store.live, instance, s.binding.Namespace)
	if err == nil && !is {
		err = fmt.Errorf("the instance %q is not shared with this namespace any more", s.binding.InstanceKey())
	}
	return err
}

// end deletes the binding if the instance's sharing says so
// (whenWithdrawn: Unbind). It reads both live, because the cache may have a
// former state of the sharing.
func (s *sharing) end(ctx context.Context) error {
	b := s.binding
	if !s.closed || b.DeletionTimestamp != nil {
		return nil
	}
	var instance v1beta1.ServiceInstance
	if err := s.store.live.Get(ctx, b.InstanceKey(), &instance); err != nil {
		return client.IgnoreNotFound(err)
	}
	spec := instance.Spec.Sharing
	if spec == nil || spec.WhenWithdrawn != v1beta1.WithdrawnUnbind || !isFor(b, &instance) {
		return nil
	}
	if is, err := admits(ctx, s.store.live, &instance, b.Namespace); is || err != nil {
		return err
	}
	if err := s.store.client.Delete(ctx, b, client.Preconditions{UID: &b.UID}); err != nil {
		return client.IgnoreNotFound(err)
	}
	s.events.Tell(b, &lifecycle.Event{
		Warning: true, Reason: reasonWithdrawn,
		Message: fmt.Sprintf("deleted: the instance %q is not shared with this namespace any more, and its sharing says whenWithdrawn: Unbind", b.InstanceKey()),
	})
	return nil
}

// isFor says whether the binding is for this instance, not for a former one of
// its name.
func isFor(b *v1beta1.ServiceBinding, instance *v1beta1.ServiceInstance) bool {
	thing := lifecycle.OfBinding(b)
	target := thing.Record.Target()
	return target == nil || target.InstanceID == "" || target.InstanceID == idOf(instance)
}
