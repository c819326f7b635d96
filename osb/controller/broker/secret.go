package broker

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A SecretKeeper puts a finalizer on the Secrets of ServiceBrokers: when a
// namespace is deleted its Secrets are deleted at once, and without them
// nothing can be deprovisioned at the broker. Those are the only writes to
// Secrets that the controller does not own; deploy/vap/secrets.yaml restricts
// them to the finalizer.
type SecretKeeper struct {
	Client client.Client
	Live   client.Reader
}

// secretOf is the Secret in the namespace of a ServiceBroker that its authInfo names; zero: none.
func secretOf(b Broker) types.NamespacedName {
	return v1beta1.PerScope(b.object.GetNamespace(), types.NamespacedName{}, cmp.Or(b.basic, b.bearer))
}

// keep adds the finalizer of a broker to its Secret, as it was just read. If it
// cannot be written the broker works nevertheless, and the next read tries
// again.
func (k SecretKeeper) keep(ctx context.Context, b Broker, secret *corev1.Secret) {
	name := v1beta1.FinalizerOfBroker(b.object.GetUID())
	if b.Status.CredentialsSecret != secret.Name || b.object.GetNamespace() != secret.Namespace || b.object.GetDeletionTimestamp() != nil ||
		secret.DeletionTimestamp != nil || controllerutil.ContainsFinalizer(secret, name) {
		return
	}
	next := secret.DeepCopy()
	controllerutil.AddFinalizer(next, name)
	err := k.Client.Update(ctx, next, client.FieldOwner(v1beta1.FieldOwnerController))
	switch {
	case err == nil:
		*secret = *next
	case !apierrors.IsConflict(err) && !apierrors.IsNotFound(err):
		log.FromContext(ctx).Info("the Secret of a broker could not be kept from going before it", "broker", keyOfBroker(b.object).String(), "why", err.Error())
	}
}

// letGo removes the finalizer of a broker from a Secret; an empty name is no
// Secret.
func (k SecretKeeper) letGo(ctx context.Context, b Broker, name string) error {
	if name == "" {
		return nil
	}
	var secret corev1.Secret
	if err := k.Live.Get(ctx, client.ObjectKey{Namespace: b.object.GetNamespace(), Name: name}, &secret); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("cannot read the Secret %q with the broker's credentials: %w", name, err)
	}
	if !controllerutil.RemoveFinalizer(&secret, v1beta1.FinalizerOfBroker(b.object.GetUID())) {
		return nil
	}
	err := k.Client.Update(ctx, &secret, client.FieldOwner(v1beta1.FieldOwnerController))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot take the broker's finalizer off the Secret %q: %w", name, err)
	}
	return nil
}

// keepSecret records in status which Secret has the finalizer, before the
// finalizer is written, so that it can be removed when authInfo names another
// Secret. From then on the finalizer is added whenever a Secret is read for a
// call and lacks it.
func (r *reconciler) keepSecret(ctx context.Context, b Broker) error {
	wanted, kept := secretOf(b).Name, b.Status.CredentialsSecret
	if wanted == kept {
		return nil
	}
	if err := r.Secrets.letGo(ctx, b, kept); apierrors.IsForbidden(err) {
		// The broker works nevertheless, and the next pass tries again.
		log.FromContext(ctx).Info("the Secret that a broker named before is still kept for it", "broker", keyOfBroker(b.object).String(), "why", err.Error())
		return nil
	} else if err != nil {
		return err
	}
	if err := r.noteSecret(ctx, b, wanted); err != nil || wanted == "" {
		return err
	}
	var secret corev1.Secret
	if err := r.Secrets.Live.Get(ctx, secretOf(b), &secret); err == nil { // else the next call tells of it
		r.Secrets.keep(ctx, b, &secret)
	}
	return nil
}

// noteSecret records in status which Secret has the finalizer. The write
// conflicts if another pass recorded one since the broker was read: otherwise
// that Secret would keep the finalizer for ever.
func (r *reconciler) noteSecret(ctx context.Context, b Broker, name string) error {
	object, _ := b.object.DeepCopyObject().(client.Object)
	after := brokerOf(object)
	after.Status.CredentialsSecret = name
	patch := client.MergeFromWithOptions(b.object, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Status().Patch(ctx, object, patch, client.FieldOwner(v1beta1.FieldOwnerController)); err != nil {
		return fmt.Errorf("cannot write the status of %s: %w", keyOfBroker(b.object), err)
	}
	if after.Status.CredentialsSecret != name { // older definitions: a finalizer would not be found again
		return fmt.Errorf("cannot note the Secret of %s in status: the definitions are older than the controller", keyOfBroker(b.object))
	}
	b.object.SetResourceVersion(object.GetResourceVersion())
	b.Status.CredentialsSecret = name
	return nil
}
