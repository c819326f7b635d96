package export

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
)

// letGo deletes an object without its broker, whether or not a controller runs: it is annotated as
// svcat deprovision --abandon does, for one of today; its finalizer is taken off first, so that
// one of the retired catalog never sees it being deleted; and what a binding owns is kept. It
// returns why the object is still there; empty: it is gone. Each step can be the last one
// before an interrupt, and is taken again.
func letGo(ctx context.Context, c client.Client, object client.Object) (string, error) {
	uid := object.GetUID()
	if binding, is := object.(*v1beta1.ServiceBinding); is {
		if err := disown(ctx, c, binding); err != nil {
			return "", err
		}
	}
	if object.GetDeletionTimestamp() == nil {
		if err := unhook(ctx, c, object); err != nil {
			return "", err
		}
		seen := object.GetResourceVersion() // what changed since is not known to be let go
		err := c.Delete(ctx, object, client.Preconditions{UID: &uid, ResourceVersion: &seen}, client.PropagationPolicy(metav1.DeletePropagationBackground))
		if client.IgnoreNotFound(err) != nil {
			return "", fmt.Errorf("cannot delete it on the old side: %w", err)
		}
	}
	// The webhook of today puts the finalizer back on an object that is not being deleted.
	err := c.Get(ctx, client.ObjectKeyFromObject(object), object)
	if err == nil && object.GetUID() == uid && slices.Contains(object.GetFinalizers(), v1beta1.FinalizerServiceCatalog) {
		if err = unhook(ctx, c, object); err == nil {
			err = c.Get(ctx, client.ObjectKeyFromObject(object), object)
		}
	}
	if apierrors.IsNotFound(err) || err == nil && object.GetUID() != uid { // what keeps manifests may have made another at once
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("cannot see whether it is gone on the old side: %w", err)
	}
	return "it waits on the old side for its finalizers: " + strings.Join(object.GetFinalizers(), ", "), nil
}

// unhook annotates the object as abandoned and takes our finalizer off it, unless both are so: a
// command that is killed at each of its writes gets on, too.
func unhook(ctx context.Context, c client.Client, object client.Object) error {
	if object.GetAnnotations()[v1beta1.AnnotationAbandon] == "true" && !slices.Contains(object.GetFinalizers(), v1beta1.FinalizerServiceCatalog) {
		return nil
	}
	before, _ := object.DeepCopyObject().(client.Object)
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[v1beta1.AnnotationAbandon] = "true"
	object.SetAnnotations(annotations)
	object.SetFinalizers(slices.DeleteFunc(slices.Clone(object.GetFinalizers()), func(name string) bool {
		return name == v1beta1.FinalizerServiceCatalog
	}))
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Patch(ctx, object, patch, fieldOwner); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot take the finalizer off it on the old side: %w", err)
	}
	return nil
}

// disown takes a binding off the owners of what holds its credentials, so that these stay for the
// applications of the old side when the binding is gone. Their contents are not read.
func disown(ctx context.Context, c client.Client, binding *v1beta1.ServiceBinding) error {
	status := &binding.Status
	owned := map[string][]string{
		"Secret":    append([]string{moving.SecretOf(binding).Name}, status.Secrets...),
		"ConfigMap": status.ConfigMaps,
		"Service":   {status.Service},
	}
	for _, kind := range []string{"Secret", "ConfigMap", "Service"} {
		for _, name := range owned[kind] {
			if name == "" {
				continue
			}
			if err := disownOne(ctx, c, binding, kind, name); err != nil {
				return fmt.Errorf("cannot keep %s %q of the old side: %w", kind, name, err)
			}
		}
	}
	if err := disownSlices(ctx, c, binding); err != nil {
		return fmt.Errorf("cannot keep the EndpointSlices of Service %q of the old side: %w", status.Service, err)
	}
	return nil
}

// disownSlices keeps the EndpointSlices of the binding's Service, which leads nowhere without them.
func disownSlices(ctx context.Context, c client.Client, binding *v1beta1.ServiceBinding) error {
	if binding.Status.Service == "" {
		return nil
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(discoveryv1.SchemeGroupVersion.WithKind("EndpointSliceList"))
	err := c.List(ctx, list, client.InNamespace(binding.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: binding.Status.Service})
	if err != nil {
		return err
	}
	for i := range list.Items {
		list.Items[i].SetGroupVersionKind(discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice"))
		if err := disownObject(ctx, c, binding, &list.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

func disownOne(ctx context.Context, c client.Client, binding *v1beta1.ServiceBinding, kind, name string) error {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	if err := c.Get(ctx, client.ObjectKey{Namespace: binding.Namespace, Name: name}, object); err != nil {
		return client.IgnoreNotFound(err)
	}
	return disownObject(ctx, c, binding, object)
}

func disownObject(ctx context.Context, c client.Client, binding *v1beta1.ServiceBinding, object *metav1.PartialObjectMetadata) error {
	others := slices.DeleteFunc(slices.Clone(object.OwnerReferences), func(owner metav1.OwnerReference) bool { return owner.UID == binding.UID })
	if len(others) == len(object.OwnerReferences) {
		return nil
	}
	before := object.DeepCopy()
	object.OwnerReferences = others
	err := c.Patch(ctx, object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), fieldOwner)
	return client.IgnoreNotFound(err)
}
