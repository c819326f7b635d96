package certs

import (
	"context"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// A snapshot is what one read of the cluster found.
type snapshot struct {
	seen seen
	// secret holds what is served, authority the authority and its key.
	secret, authority *corev1.Secret
	// configurations are those that are there; missing are the others' names.
	configurations []configuration
	missing        []string
}

// A configuration is a mutating or validating one.
type configuration struct {
	kind, version string
	entries       []entry
}

// An entry is one webhook of a configuration, of which of is the full name.
type entry struct {
	of, name string
	bundle   []byte
}

func (w *snapshot) entries() []entry {
	var all []entry
	for _, c := range w.configurations {
		all = append(all, c.entries...)
	}
	return all
}

// The kinds of configurations.
const (
	mutatingKind   = "MutatingWebhookConfiguration"
	validatingKind = "ValidatingWebhookConfiguration"
)

// A source is where objects are read: the API server itself, or caches.
type source interface {
	secret(ctx context.Context, name string) (*corev1.Secret, error)
	mutating(ctx context.Context) (*admissionregistrationv1.MutatingWebhookConfiguration, error)
	validating(ctx context.Context) (*admissionregistrationv1.ValidatingWebhookConfiguration, error)
}

// secretOf reads a Secret that must be there.
func secretOf(ctx context.Context, from source, namespace, name string) (*corev1.Secret, error) {
	secret, err := from.secret(ctx, name)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("the Secret %q is not there: apply deploy/certs/managed, or install the chart again: %w", namespace+"/"+name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read Secret %q: %w", namespace+"/"+name, err)
	}
	return secret, nil
}

// look reads the Secrets and configurations. Configurations may be missing, and so may the
// Secret that is to be trusted too; the Rotator's own Secrets must exist.
func (r *Rotator) look(ctx context.Context, from source) (snapshot, error) {
	o := r.options
	secret, err := secretOf(ctx, from, o.Namespace, o.Secret)
	if err != nil {
		return snapshot{}, err
	}
	authority, err := secretOf(ctx, from, o.Namespace, o.CASecret)
	if err != nil {
		return snapshot{}, err
	}
	w := snapshot{secret: secret, authority: authority, seen: seen{data: joined(authority.Data, secret.Data)}}
	if err := w.configure(ctx, from, o.Configurations); err != nil {
		return snapshot{}, err
	}
	if o.AlsoTrust == "" {
		return w, nil
	}
	other, err := from.secret(ctx, o.AlsoTrust)
	if err != nil && !apierrors.IsNotFound(err) {
		return snapshot{}, fmt.Errorf("cannot read Secret %q (--certs-also-trust): %w", o.Namespace+"/"+o.AlsoTrust, err)
	}
	if err == nil {
		w.seen.also = other.Data[CAFile]
	}
	if found, _ := certificates(w.seen.also); len(found) == 0 {
		w.missing = append(w.missing, fmt.Sprintf("%s of Secret %q", CAFile, o.Namespace+"/"+o.AlsoTrust))
	}
	return w, nil
}

// configure reads the hook configurations, and what their entries carry.
func (w *snapshot) configure(ctx context.Context, from source, name string) error {
	mutating, err := from.mutating(ctx)
	if err := w.add(mutatingKind, name, err, func(of string) configuration {
		c := configuration{version: mutating.ResourceVersion}
		for i := range mutating.Webhooks {
			c.entries = append(c.entries, entry{of: of, name: mutating.Webhooks[i].Name, bundle: mutating.Webhooks[i].ClientConfig.CABundle})
		}
		return c
	}); err != nil {
		return err
	}
	validating, err := from.validating(ctx)
	if err := w.add(validatingKind, name, err, func(of string) configuration {
		c := configuration{version: validating.ResourceVersion}
		for i := range validating.Webhooks {
			c.entries = append(c.entries, entry{of: of, name: validating.Webhooks[i].Name, bundle: validating.Webhooks[i].ClientConfig.CABundle})
		}
		return c
	}); err != nil {
		return err
	}
	for _, e := range w.entries() {
		w.seen.bundles = append(w.seen.bundles, e.bundle)
	}
	return nil
}

// add notes a configuration, or that it is missing.
func (w *snapshot) add(kind, name string, err error, read func(of string) configuration) error {
	of := fmt.Sprintf("%s %q", kind, name)
	if apierrors.IsNotFound(err) {
		w.missing = append(w.missing, of)
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", of, err)
	}
	c := read(of)
	c.kind = kind
	w.configurations = append(w.configurations, c)
	return nil
}

// live reads from the API server.
type live struct {
	client                    kubernetes.Interface
	namespace, configurations string
}

func (l live) secret(ctx context.Context, name string) (*corev1.Secret, error) {
	return l.client.CoreV1().Secrets(l.namespace).Get(ctx, name, metav1.GetOptions{})
}

func (l live) mutating(ctx context.Context) (*admissionregistrationv1.MutatingWebhookConfiguration, error) {
	return l.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(ctx, l.configurations, metav1.GetOptions{})
}

func (l live) validating(ctx context.Context) (*admissionregistrationv1.ValidatingWebhookConfiguration, error) {
	return l.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, l.configurations, metav1.GetOptions{})
}

// cached reads what informers have seen, each of one object.
type cached struct {
	namespace, configurations string
	secrets                   map[string]cache.SharedIndexInformer
	mutatings, validatings    cache.SharedIndexInformer
}

func (c cached) secret(_ context.Context, name string) (*corev1.Secret, error) {
	return stored[*corev1.Secret](c.secrets[name], c.namespace+"/"+name)
}

func (c cached) mutating(context.Context) (*admissionregistrationv1.MutatingWebhookConfiguration, error) {
	return stored[*admissionregistrationv1.MutatingWebhookConfiguration](c.mutatings, c.configurations)
}

func (c cached) validating(context.Context) (*admissionregistrationv1.ValidatingWebhookConfiguration, error) {
	return stored[*admissionregistrationv1.ValidatingWebhookConfiguration](c.validatings, c.configurations)
}

func stored[T any](informer cache.SharedIndexInformer, key string) (T, error) {
	object, found, err := informer.GetStore().GetByKey(key)
	typed, ok := object.(T)
	if err == nil && (!found || !ok) {
		err = &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonNotFound, Message: fmt.Sprintf("%q not found", key)}}
	}
	return typed, err
}
