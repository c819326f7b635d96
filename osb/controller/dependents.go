package controller

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/events"
	"github.com/defaultplan/defaultplan/osb/controller/indexes"
)

// holders are the bindings that prevent the deletion of an instance.
type holders struct {
	client client.Client
	live   client.Reader
	// events are for bindings of other namespaces; nil: none are emitted.
	events *events.Events
}

// known are the bindings in the cache. They are enough to wait for, because
// their deletion causes an event. There may be others that only the API server
// has.
func (h holders) known(ctx context.Context, instance *v1beta1.ServiceInstance) ([]string, error) {
	var bindings v1beta1.ServiceBindingList
	if err := h.client.List(ctx, &bindings, client.MatchingFields{indexes.Instance: client.ObjectKeyFromObject(instance).String()}); err != nil {
		return nil, fmt.Errorf("cannot list the bindings of instance %q: %w", instance.Name, err)
	}
	// A binding does not hold another instance that has the name of its
	// dedicated one.
	owner, _ := instance.DedicatedTo()
	bindings.Items = slices.DeleteFunc(bindings.Items, func(b v1beta1.ServiceBinding) bool {
		return b.Dedicated() && b.UID != owner.UID
	})
	return h.among(ctx, instance, bindings.Items)
}

// of lists the bindings that are not unbound yet, by name. If the instance's
// user requested it, or the namespace is being deleted, it deletes them.
func (h holders) of(ctx context.Context, instance *v1beta1.ServiceInstance) ([]string, error) {
	var bindings v1beta1.ServiceBindingList
	// The read is live: a binding that the cache does not have yet must not
	// lose its instance. It covers all namespaces, because the instance may
	// have been shared before. spec.instanceRef.namespace is not selectable:
	// bindings already have the eight selectable fields that Kubernetes allows.
	if err := h.live.List(ctx, &bindings, client.MatchingFields{v1beta1.FieldInstanceRefName: instance.Name}); err != nil {
		return nil, fmt.Errorf("cannot list the bindings of instance %q: %w", instance.Name, err)
	}
	bindings.Items = slices.DeleteFunc(bindings.Items, func(b v1beta1.ServiceBinding) bool {
		return b.InstanceKey() != client.ObjectKeyFromObject(instance)
	})
	own, err := h.own(ctx, instance)
	if err != nil {
		return nil, err
	}
	if own != nil {
		bindings.Items = append(bindings.Items, *own)
	}
	return h.among(ctx, instance, bindings.Items)
}

// among names those of the bindings that keep the instance, and deletes those that go with it.
func (h holders) among(ctx context.Context, instance *v1beta1.ServiceInstance, bindings []v1beta1.ServiceBinding) ([]string, error) {
	cascade, err := h.cascades(ctx, instance)
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range bindings {
		b := &bindings[i]
		if !holds(b) {
			continue
		}
		names = append(names, holderName(b))
		if cascade.takes(b) && b.DeletionTimestamp == nil {
			if err := h.take(ctx, b); err != nil {
				return nil, err
			}
		}
	}
	slices.Sort(names)
	return names, nil
}

// holds says whether a binding exists, or may exist, at the broker.
func holds(b *v1beta1.ServiceBinding) bool {
	if !controllerutil.ContainsFinalizer(b, v1beta1.FinalizerServiceCatalog) {
		return false
	}
	return b.Status.UnbindStatus == v1beta1.UnbindRequired || b.Status.UnbindStatus == v1beta1.UnbindFailed ||
		b.Status.OrphanMitigationInProgress || b.Status.Rotation != nil || b.Status.ExternalProperties != nil && b.DeletionTimestamp == nil
}

func (h holders) cascades(ctx context.Context, instance *v1beta1.ServiceInstance) (cascade, error) {
	asked := cascadeOf(instance)
	if asked == cascadeEverywhere {
		return asked, nil
	}
	var namespace corev1.Namespace
	if err := h.client.Get(ctx, client.ObjectKey{Name: instance.Namespace}, &namespace); err != nil {
		return cascadeNone, fmt.Errorf("cannot read namespace %q: %w", instance.Namespace, err)
	}
	if namespace.DeletionTimestamp != nil {
		return cascadeEverywhere, nil
	}
	return asked, nil
}
