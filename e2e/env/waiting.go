package env

import (
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// InstanceDecided waits until the instance is decided.
func (e *Env) InstanceDecided(name string) *api.ServiceInstance {
	e.Helper()
	instance := e.Instance(name)
	e.Eventually(func() (bool, error) {
		err := e.Client().Get(e.Context(), client.ObjectKeyFromObject(instance), instance)
		return instance.Spec.Decided(), err
	})
	return instance
}

// ToldUndecided waits for the keeper's event about an instance.
func (e *Env) ToldUndecided(name string) eventsv1.Event {
	e.Helper()
	var told eventsv1.Event
	e.Eventually(func() (bool, error) {
		events := &eventsv1.EventList{}
		if err := e.Client().List(e.Context(), events, client.InNamespace(e.Namespace)); err != nil {
			return false, err
		}
		for _, event := range events.Items {
			if event.Regarding.Name == name && event.Reason == "Undecided" {
				told = event
				return true, nil
			}
		}
		return false, nil
	})
	return told
}

// WaitingBinding creates a binding whose instance is yet to come, or to be
// decided, and returns it as stored.
func (e *Env) WaitingBinding(name, instance string) *api.ServiceBinding {
	e.Helper()
	binding := &api.ServiceBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: name},
		Spec:       api.ServiceBindingSpec{InstanceRef: &api.InstanceReference{Name: instance}, Parameters: RawJSON(`{"user":"admin"}`)},
	}
	e.Create(binding)
	require.False(e, binding.Spec.Decided(), "it waits")
	return binding
}

// Bindable is a class and a plan that name("c") and name("p") name, with defaults
// for bindings.
func (e *Env) Bindable() []client.Object {
	e.Helper()
	offered, ok := Plan{Name: e.Name("p"), Class: e.Name("c"), ServiceType: e.Name("db"), Default: true}.Object().(*api.ClusterServicePlan)
	require.True(e, ok)
	offered.Spec.DefaultBindParameters = RawJSON(`{"user":"reader","tls":true}`)
	offered.Spec.DefaultSecretTransforms = []api.SecretTransform{{RenameKey: &api.RenameKeyTransform{From: "db-name", To: "database"}}}
	return []client.Object{Class{Name: e.Name("c"), ServiceType: e.Name("db")}.Object(), offered}
}

// BindingDecided waits until the binding is decided.
func (e *Env) BindingDecided(name string) *api.ServiceBinding {
	e.Helper()
	binding := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: name}}
	e.Eventually(func() (bool, error) {
		err := e.Client().Get(e.Context(), client.ObjectKeyFromObject(binding), binding)
		return binding.Spec.Decided(), err
	})
	return binding
}

// ToldOf waits for an event of the keeper's about an object that says so.
func (e *Env) ToldOf(name, says string) {
	e.Helper()
	e.Eventually(func() (bool, error) {
		events := &eventsv1.EventList{}
		if err := e.Client().List(e.Context(), events, client.InNamespace(e.Namespace)); err != nil {
			return false, err
		}
		return slices.ContainsFunc(events.Items, func(event eventsv1.Event) bool {
			return event.Regarding.Name == name && event.Reason == "Undecided" && strings.Contains(event.Note, says)
		}), nil
	})
}
