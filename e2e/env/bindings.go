package env

import (
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// Bindings are ServiceBindings of the namespace, and their Secrets.
type Bindings struct {
	*Objects
	*Names
}

// A BindingEdit changes a binding before it is created.
type BindingEdit func(*api.ServiceBinding)

// Binding is a binding in the namespace to an instance there, not yet created. With an
// empty instance it refers to none.
func (b *Bindings) Binding(name, instance string, edits ...BindingEdit) *api.ServiceBinding {
	binding := &api.ServiceBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.GroupVersion.String(), Kind: "ServiceBinding"},
		ObjectMeta: b.Meta(name),
	}
	if instance != "" {
		binding.Spec.InstanceRef = &api.InstanceReference{Name: instance}
	}
	for _, edit := range edits {
		edit(binding)
	}
	return binding
}

// SecretOf reads the Secret of a binding.
func (b *Bindings) SecretOf(binding *api.ServiceBinding) *corev1.Secret {
	b.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: binding.Namespace, Name: binding.Spec.SecretName}}
	b.Get(secret)
	return secret
}

// ReadSecret is one in the namespace as it is stored.
func (b *Bindings) ReadSecret(name string) *corev1.Secret {
	b.Helper()
	secret := b.Secret(name)
	b.Get(secret)
	return secret
}

// StoredBinding is a binding as stored.
func (b *Bindings) StoredBinding(name string) *api.ServiceBinding {
	b.Helper()
	binding := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: name}}
	b.Get(binding)
	return binding
}

// WaitingBinding creates a binding whose instance is yet to come, or to be
// decided, and returns it as stored.
func (b *Bindings) WaitingBinding(name, instance string) *api.ServiceBinding {
	b.Helper()
	binding := &api.ServiceBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: name},
		Spec:       api.ServiceBindingSpec{InstanceRef: &api.InstanceReference{Name: instance}, Parameters: RawJSON(`{"user":"admin"}`)},
	}
	b.Create(binding)
	require.False(b, binding.Spec.Decided(), "it waits")
	return binding
}

// BindingDecided waits until the binding is decided.
func (b *Bindings) BindingDecided(name string) *api.ServiceBinding {
	b.Helper()
	binding := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: name}}
	b.Eventually(func() (bool, error) {
		err := b.Client().Get(b.Context(), client.ObjectKeyFromObject(binding), binding)
		return binding.Spec.Decided(), err
	})
	return binding
}
