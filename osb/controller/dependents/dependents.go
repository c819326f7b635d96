package dependents

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/events"
	"github.com/defaultplan/defaultplan/osb/controller/indexes"
)

// A Reader finds the bindings that prevent the deletion of an instance.
type Reader struct {
	Client client.Client
	// Live reads from the API server.
	Live client.Reader
	// Events are for bindings of other namespaces; nil: none are emitted.
	Events *events.Events
}

// Known are the bindings in the cache. They are enough to wait for, because
// their deletion causes an event. There may be others that only the API server
// has.
func (h Reader) Known(ctx context.Context, instance *v1beta1.ServiceInstance) ([]string, error) {
	var bindings v1beta1.ServiceBindingList
	if err := h.Client.List(ctx, &bindings, client.MatchingFields{indexes.Instance: client.ObjectKeyFromObject(instance).String()}); err != nil {
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

// Of lists the bindings that are not unbound yet, by name. If the instance's
// user requested it, or the namespace is being deleted, it deletes them.
func (h Reader) Of(ctx context.Context, instance *v1beta1.ServiceInstance) ([]string, error) {
	var bindings v1beta1.ServiceBindingList
	// The read is live: a binding that the cache does not have yet must not
	// lose its instance. It covers all namespaces, because the instance may
	// have been shared before. spec.instanceRef.namespace is not selectable:
	// bindings already have the eight selectable fields that Kubernetes allows.
	if err := h.Live.List(ctx, &bindings, client.MatchingFields{v1beta1.FieldInstanceRefName: instance.Name}); err != nil {
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
func (h Reader) among(ctx context.Context, instance *v1beta1.ServiceInstance, bindings []v1beta1.ServiceBinding) ([]string, error) {
	cascade, err := h.cascades(ctx, instance)
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range bindings {
		b := &bindings[i]
		if !Keeps(b) {
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

// Keeps says whether a binding exists, or may exist, at the broker.
func Keeps(b *v1beta1.ServiceBinding) bool {
	if !controllerutil.ContainsFinalizer(b, v1beta1.FinalizerServiceCatalog) {
		return false
	}
	return b.Status.UnbindStatus == v1beta1.UnbindRequired || b.Status.UnbindStatus == v1beta1.UnbindFailed ||
		b.Status.OrphanMitigationInProgress || b.Status.Rotation != nil ||
		b.Status.ExternalProperties != nil && (b.DeletionTimestamp == nil || b.Annotations[v1beta1.AnnotationDeprovisionAdopted] == "true")
}

func (h Reader) cascades(ctx context.Context, instance *v1beta1.ServiceInstance) (cascade, error) {
	asked := cascadeOf(instance)
	if asked == cascadeEverywhere {
		return asked, nil
	}
	var namespace corev1.Namespace
	if err := h.Client.Get(ctx, client.ObjectKey{Name: instance.Namespace}, &namespace); err != nil {
		return cascadeNone, fmt.Errorf("cannot read namespace %q: %w", instance.Namespace, err)
	}
	if namespace.DeletionTimestamp != nil {
		return cascadeEverywhere, nil
	}
	return asked, nil
}

// own is the binding that an instance is dedicated to; nil: it does not exist
// any more.
func (h Reader) own(ctx context.Context, instance *v1beta1.ServiceInstance) (*v1beta1.ServiceBinding, error) {
	owner, is := instance.DedicatedTo()
	if !is {
		return nil, nil
	}
	binding := &v1beta1.ServiceBinding{}
	err := h.Live.Get(ctx, client.ObjectKey{Namespace: instance.Namespace, Name: owner.Name}, binding)
	switch {
	case apierrors.IsNotFound(err) || err == nil && binding.UID != owner.UID:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot read binding %q, whose own the instance is: %w", owner.Name, err)
	}
	return binding, nil
}
