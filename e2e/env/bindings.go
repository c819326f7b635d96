package env

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// A BindingEdit changes a binding before it is created.
type BindingEdit func(*api.ServiceBinding)

// Binding is a binding in the namespace to an instance there, not yet created. With an
// empty instance it refers to none.
func (e *Env) Binding(name, instance string, edits ...BindingEdit) *api.ServiceBinding {
	binding := &api.ServiceBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.GroupVersion.String(), Kind: "ServiceBinding"},
		ObjectMeta: e.Meta(name),
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
func (e *Env) SecretOf(binding *api.ServiceBinding) *corev1.Secret {
	e.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: binding.Namespace, Name: binding.Spec.SecretName}}
	e.Get(secret)
	return secret
}
