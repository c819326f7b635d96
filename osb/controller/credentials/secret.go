// Package credentials stores the credentials that a broker returned for a
// ServiceBinding: it applies the binding's transforms, and writes the Secret
// and the ConfigMap beside it. No error contains the value of a credential.
package credentials

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/owned"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// ReasonNotStored is why there is no Secret.
const ReasonNotStored = "ErrorInjectingBindResult"

// secretTypePrefix goes before a service type in the type of a Secret, as the Service
// Binding specification says.
const secretTypePrefix = "servicebinding.io/"

// Secrets reads and writes the Secrets of bindings. Each is read by its name,
// because the controller may not list Secrets. A Secret that the binding does
// not own is never changed.
type Secrets struct {
	owned.Objects

	// Backoff is how often, and for how long, a write of credentials is tried.
	Backoff wait.Backoff
}

// SecretName is the Secret of a binding.
func SecretName(b *v1beta1.ServiceBinding) string {
	if b.Spec.SecretName != "" {
		return b.Spec.SecretName
	}
	return b.Name
}

// Write stores the transformed credentials in the Secret and the ConfigMap
// beside it. It retries for a while, because the credentials are stored nowhere
// else. The Secret is written last, so if it exists, all is written.
func (s Secrets) Write(ctx context.Context, b *v1beta1.ServiceBinding, of Origin, given *osb.Binding) (Written, error) {
	made, err := s.data(ctx, b, of, given)
	if err != nil {
		return Written{}, err
	}
	secret, err := s.made(b, of.ServiceType, made.secret)
	if err != nil {
		return Written{}, err
	}
	of.Metadata.ToldInStatus = of.Metadata.ToldInStatus || len(made.missing) > 0
	of.Metadata.Annotate(secret)
	err = retry.OnError(s.Backoff, passing, func() error { return s.publish(ctx, b, made.public) })
	if err == nil {
		err = retry.OnError(s.Backoff, passing, func() error { return s.put(ctx, b, secret) })
	}
	if apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err) {
		err = UnstorableError{err}
	}
	return Written{Published: len(made.public) > 0, Missing: made.missing, EmptyBecause: made.emptyBecause}, err
}

// Written is the result of a write of credentials, for status.
type Written struct {
	// Published says that a ConfigMap is beside the Secret.
	Published bool
	// Missing are the keys that transforms name and the credentials do not have.
	Missing []string
	// EmptyBecause says why the Secret holds nothing; empty: it holds something.
	EmptyBecause string
}

// made is the Secret of a binding, with what is to be in it.
func (s Secrets) made(b *v1beta1.ServiceBinding, serviceType string, data map[string][]byte) (*corev1.Secret, error) {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: SecretName(b)},
		Type:       secretType(serviceType), Data: data,
	}
	return secret, s.Adopt(b, owned.Secret.Kind, secret)
}

// passing says whether an error is transient.
func passing(err error) bool {
	return !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) && !apierrors.IsRequestEntityTooLargeError(err) && !owned.IsForeign(err)
}

func secretType(serviceType string) corev1.SecretType {
	if serviceType == "" {
		return corev1.SecretTypeOpaque
	}
	return corev1.SecretType(secretTypePrefix + serviceType)
}

// isBindingType says that a binding's Secret may be of a type: the cluster fills in some of
// the others, with tokens.
func isBindingType(t corev1.SecretType) bool {
	return t == corev1.SecretTypeOpaque || strings.HasPrefix(string(t), secretTypePrefix)
}

// put creates the Secret, or replaces the data of the binding's own, whose type
// never changes, even if the service type was renamed. A Secret that cannot be
// updated is recreated: one that was made immutable, or has a type that no
// binding's Secret has.
func (s Secrets) put(ctx context.Context, b *v1beta1.ServiceBinding, wanted *corev1.Secret) error {
	err := s.create(ctx, wanted)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	var has corev1.Secret
	if err := s.Live.Get(ctx, client.ObjectKeyFromObject(wanted), &has); err != nil {
		return fmt.Errorf("cannot read Secret %q: %w", wanted.Name, err)
	}
	if !metav1.IsControlledBy(&has, b) {
		return owned.ForeignError{Kind: "Secret", Name: has.Name}
	}
	keeps := isBindingType(has.Type)
	if keeps {
		wanted.Type = has.Type // wanted keeps it too, for a retry that finds the Secret deleted
	}
	if !keeps || ptr.Deref(has.Immutable, false) {
		if err := s.Delete(ctx, owned.Secret.Kind, &has); err != nil {
			return err
		}
		return s.create(ctx, wanted)
	}
	next := has.DeepCopy()
	next.Data = wanted.Data
	MetadataOf(wanted).Annotate(next)
	owned.Label(next)
	return s.Client.Update(ctx, next, client.FieldOwner(v1beta1.FieldOwnerController))
}

func (s Secrets) create(ctx context.Context, secret *corev1.Secret) error {
	return s.Client.Create(ctx, secret.DeepCopy(), client.FieldOwner(v1beta1.FieldOwnerController))
}

// Refused says why the API server would deny a Secret of that name with any
// content, such as for a quota or a policy. It sends a dry run.
func (s Secrets) Refused(ctx context.Context, b *v1beta1.ServiceBinding, serviceType string) (*lifecycle.Problem, error) {
	secret, err := s.made(b, serviceType, nil)
	if err != nil {
		return nil, err
	}
	err = s.Client.Create(ctx, secret, client.DryRunAll, client.FieldOwner(v1beta1.FieldOwnerController))
	switch {
	case apierrors.IsForbidden(err) || apierrors.IsInvalid(err):
		return &lifecycle.Problem{Reason: ReasonNotStored, Waits: true, Message: fmt.Sprintf("the credentials could not be stored: %s", err)}, nil
	case err != nil && !apierrors.IsAlreadyExists(err):
		return nil, fmt.Errorf("cannot try to make Secret %q: %w", secret.Name, err)
	}
	return nil, nil
}

// RemoveAll deletes the binding's own Secret, and the ConfigMap beside it; another's is left
// alone.
func (s Secrets) RemoveAll(ctx context.Context, b *v1beta1.ServiceBinding) error {
	if err := s.Remove(ctx, b, owned.Secret, SecretName(b)); err != nil || !Publishes(b) {
		return err
	}
	return s.Remove(ctx, b, owned.ConfigMap, SecretName(b))
}

// An UnstorableError says that the transformed credentials do not fit into any
// Secret.
type UnstorableError struct{ error }

func (e UnstorableError) Unwrap() error { return e.error }
