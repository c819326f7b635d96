package broker

import (
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

// A SecretKeeper keeps the Secrets of ServiceBrokers from going before them: when a namespace
// is deleted its Secrets go at once, and without them what is at the broker cannot be
// removed there. Those are the only writes to Secrets that are not the controller's own;
// deploy/vap/secrets.yaml holds them to the finalizer.
type SecretKeeper struct {
	Client client.Client
	Live   client.Reader
}

// secretOf is the Secret in the namespace of a ServiceBroker that its authInfo names; zero: none.
func secretOf(b Broker) types.NamespacedName {
	switch {
	case b.object.GetNamespace() == "":
		return types.NamespacedName{}
	case b.basic.Name != "":
		return b.basic
	}
	return b.bearer
}

// keep has the finalizer of a broker be on its Secret, as it was just read. Where it cannot be
// written the broker is of use all the same, and the next reading tries again.
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

// letGo takes the finalizer of a broker off a Secret; empty: there is none.
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

// keepSecret notes in status which Secret is kept, before its finalizer is written: so
// it is found when authInfo names another, and let go. From then on the finalizer is written
// where a Secret is read for a call that has none.
func (r *reconciler) keepSecret(ctx context.Context, b Broker) error {
	wanted, kept := secretOf(b).Name, b.Status.CredentialsSecret
	if wanted == kept {
		return nil
	}
	if err := r.Secrets.letGo(ctx, b, kept); apierrors.IsForbidden(err) {
		// The broker is of use all the same, and the next pass tries again.
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

// noteSecret has status name the Secret that is kept. Of a broker that was read before another
// pass noted one it is refused: that Secret would never be let go.
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
