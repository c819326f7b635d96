package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// secretTypePrefix goes before a service type in the type of a Secret, as the Service
// Binding specification says.
const secretTypePrefix = "servicebinding.io/"

// A secretState is whose Secret has the name that a binding wants.
type secretState int

const (
	secretAbsent secretState = iota
	secretOwned
	secretForeign
)

// secrets are those that hold bindings' credentials. Each is read by its name: there is
// no right to list them. One that is not a binding's own is never touched.
type secrets struct {
	client client.Client
	live   client.Reader
	scheme *runtime.Scheme
}

// secretName is the Secret of a binding.
func secretName(b *v1beta1.ServiceBinding) string {
	if b.Spec.SecretName != "" {
		return b.Spec.SecretName
	}
	return b.Name
}

// The kinds of what a binding creates.
var (
	kindSecret    = corev1.SchemeGroupVersion.WithKind("Secret")
	kindConfigMap = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	kindService   = corev1.SchemeGroupVersion.WithKind("Service")
)

// state says whose the Secret is, without reading its content.
func (s secrets) state(ctx context.Context, b *v1beta1.ServiceBinding) (secretState, error) {
	_, state, err := s.whose(ctx, b, kindSecret, secretName(b))
	return state, err
}

// whose says whose an object of a binding's namespace is, by its metadata.
func (s secrets) whose(ctx context.Context, b *v1beta1.ServiceBinding, kind schema.GroupVersionKind, name string) (client.Object, secretState, error) {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(kind)
	err := s.live.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: name}, o)
	switch {
	case apierrors.IsNotFound(err):
		return nil, secretAbsent, nil
	case err != nil:
		return nil, secretForeign, fmt.Errorf("cannot read %s %q: %w", kind.Kind, name, err)
	case metav1.IsControlledBy(o, b):
		return o, secretOwned, nil
	}
	return o, secretForeign, nil
}

// write makes the Secret, and the ConfigMap beside it, hold what the broker gave, changed as
// the transforms say. It tries for a while: nobody else has the credentials. The Secret is
// the last: where it is, all is.
func (s secrets) write(ctx context.Context, b *v1beta1.ServiceBinding, of provenance, given *osb.Binding) (published bool, err error) {
	data, public, err := s.data(ctx, b, of, given)
	if err != nil {
		return false, err
	}
	secret, err := s.made(b, of.serviceType, data)
	if err != nil {
		return false, err
	}
	of.holding.annotate(secret)
	err = retry.OnError(patience, passing, func() error { return s.publish(ctx, b, public) })
	if err == nil {
		err = retry.OnError(patience, passing, func() error { return s.put(ctx, b, secret) })
	}
	if apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err) {
		err = unstorableError{err}
	}
	return len(public) > 0, err
}

// made is the Secret of a binding, with what is to be in it.
func (s secrets) made(b *v1beta1.ServiceBinding, serviceType string, data map[string][]byte) (*corev1.Secret, error) {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: b.Namespace, Name: secretName(b),
			Labels: map[string]string{v1beta1.LabelManagedBy: v1beta1.ManagedByController},
		},
		Type: secretType(serviceType), Data: data,
	}
	if err := controllerutil.SetControllerReference(b, secret, s.scheme); err != nil {
		return nil, fmt.Errorf("cannot own Secret %q: %w", secret.Name, err)
	}
	return secret, nil
}

// passing says that an error may be gone soon.
func passing(err error) bool {
	return !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) && !apierrors.IsRequestEntityTooLargeError(err) && !isForeign(err)
}

func secretType(serviceType string) corev1.SecretType {
	if serviceType == "" {
		return corev1.SecretTypeOpaque
	}
	return corev1.SecretType(secretTypePrefix + serviceType)
}

// put creates the Secret, or replaces the binding's own. The type of a Secret cannot
// change, nor what somebody made immutable: one of another type, or such a one, is made
// anew.
func (s secrets) put(ctx context.Context, b *v1beta1.ServiceBinding, wanted *corev1.Secret) error {
	err := s.create(ctx, wanted)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	var has corev1.Secret
	if err := s.live.Get(ctx, client.ObjectKeyFromObject(wanted), &has); err != nil {
		return fmt.Errorf("cannot read Secret %q: %w", wanted.Name, err)
	}
	if !metav1.IsControlledBy(&has, b) {
		return foreignError{kind: "Secret", name: has.Name}
	}
	if has.Type != wanted.Type || ptr.Deref(has.Immutable, false) {
		if err := s.delete(ctx, kindSecret.Kind, &has); err != nil {
			return err
		}
		return s.create(ctx, wanted)
	}
	next := has.DeepCopy()
	next.Data = wanted.Data
	holdingOf(wanted).annotate(next)
	if next.Labels == nil {
		next.Labels = map[string]string{}
	}
	next.Labels[v1beta1.LabelManagedBy] = v1beta1.ManagedByController
	return s.client.Update(ctx, next, client.FieldOwner(v1beta1.FieldOwnerController))
}

func (s secrets) create(ctx context.Context, secret *corev1.Secret) error {
	return s.client.Create(ctx, secret.DeepCopy(), client.FieldOwner(v1beta1.FieldOwnerController))
}

// refused says why the API server would not take a Secret of that name, whatever is in it:
// a quota, or a policy. It is not made.
func (s secrets) refused(ctx context.Context, b *v1beta1.ServiceBinding, serviceType string) (*lifecycle.Problem, error) {
	secret, err := s.made(b, serviceType, nil)
	if err != nil {
		return nil, err
	}
	err = s.client.Create(ctx, secret, client.DryRunAll, client.FieldOwner(v1beta1.FieldOwnerController))
	switch {
	case apierrors.IsForbidden(err) || apierrors.IsInvalid(err):
		return &lifecycle.Problem{Reason: reasonSecret, Waits: true, Message: fmt.Sprintf("the credentials could not be stored: %s", err)}, nil
	case err != nil && !apierrors.IsAlreadyExists(err):
		return nil, fmt.Errorf("cannot try to make Secret %q: %w", secret.Name, err)
	}
	return nil, nil
}

// remove deletes the binding's own Secret, and the ConfigMap beside it; another's is left
// alone.
func (s secrets) remove(ctx context.Context, b *v1beta1.ServiceBinding) error {
	if err := s.removeOwn(ctx, b, kindSecret, secretName(b)); err != nil || !publishes(b) {
		return err
	}
	return s.removeOwn(ctx, b, kindConfigMap, secretName(b))
}

// removeOwn deletes an object, if it is the binding's own.
func (s secrets) removeOwn(ctx context.Context, b *v1beta1.ServiceBinding, kind schema.GroupVersionKind, name string) error {
	o, state, err := s.whose(ctx, b, kind, name)
	if err != nil || state != secretOwned {
		return err
	}
	return s.delete(ctx, kind.Kind, o)
}

func (s secrets) delete(ctx context.Context, kind string, o client.Object) error {
	uid := o.GetUID()
	if err := s.client.Delete(ctx, o, client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot delete %s %q: %w", kind, o.GetName(), err)
	}
	return nil
}

// An unstorableError says that no Secret can hold what the binding's spec makes of the
// credentials.
type unstorableError struct{ error }

func (e unstorableError) Unwrap() error { return e.error }

// A foreignError says that an object is not the binding's own.
type foreignError struct{ kind, name string }

func (e foreignError) Error() string {
	return fmt.Sprintf("the %s %q is not of this binding; it is left as it is", e.kind, e.name)
}
