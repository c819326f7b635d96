package env

import (
	"crypto/rand"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// AppliedOn is the record of what admission applied to an object.
func (e *Env) AppliedOn(annotations map[string]string) api.AppliedDefaults {
	e.Helper()
	applied, err := api.ParseAppliedDefaults(annotations[api.AnnotationAppliedDefaults])
	require.NoError(e, err)
	return applied
}

// WithExternalID gives an ID that no other instance has: two are refused.
func WithExternalID(i *api.ServiceInstance) { i.Spec.ExternalID = rand.Text() }

// Stored is the instance of that name, as it is stored.
func (e *Env) Stored(name string) *api.ServiceInstance {
	e.Helper()
	instance := e.Instance(name)
	e.Get(instance)
	return instance
}

// HoldFinalizer is the finalizer of some other controller: it keeps a deleted object.
const HoldFinalizer = "example.org/hold"

// WithFinalizer adds a finalizer.
func WithFinalizer(name string) InstanceEdit {
	return func(i *api.ServiceInstance) { i.Finalizers = append(i.Finalizers, name) }
}

// StoredBinding is a binding as stored.
func (e *Env) StoredBinding(name string) *api.ServiceBinding {
	e.Helper()
	binding := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: name}}
	e.Get(binding)
	return binding
}
