package controller

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// What another controller handles is left to it.
func TestForeignBrokersAreLeftAlone(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t, func(b *v1beta1.ServiceBinding) {
		b.Status.Conditions = []v1beta1.Condition{v1beta1.Waiting("Binding", "its controller is at it")}
	})
	var broker v1beta1.ClusterServiceBroker
	require.NoError(t, w.cache.Get(t.Context(), client.ObjectKey{Name: "broker"}, &broker))
	broker.Spec.ControllerName = "other"
	require.NoError(t, w.cache.Update(t.Context(), &broker))
	before := w.bindingHere()
	result, err := w.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: w.at})
	require.NoError(t, err)
	assert.Greater(t, result.RequeueAfter, w.reconciler.engine.reread, "its broker may be created again")
	assert.Equal(t, before, w.bindingHere())
	assert.Empty(t, w.broker.Calls())
}

// Nothing is made for an object that could be gone before what was made for it.
func TestNothingIsMadeWithoutAFinalizer(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t, func(b *v1beta1.ServiceBinding) { b.Finalizers = nil })
	b, _ := w.pass()
	assert.Equal(t, []string{v1beta1.FinalizerServiceCatalog}, b.Finalizers)
	assert.Empty(t, w.broker.Calls())
	b, _ = w.pass()
	assert.NotNil(t, b.Status.Binding)
}

// In a namespace that is being deleted the Secret goes first: it is not created
// again, and its binding not undone.
func TestNoSecretIsMadeInANamespaceThatEnds(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	b, _ := w.pass()
	require.NotNil(t, b.Status.Binding)
	var namespace corev1.Namespace
	require.NoError(t, w.cache.Get(t.Context(), client.ObjectKey{Name: "n"}, &namespace))
	namespace.Finalizers = []string{"kubernetes"}
	require.NoError(t, w.cache.Update(t.Context(), &namespace))
	require.NoError(t, w.cache.Delete(t.Context(), &namespace))
	require.NoError(t, w.cache.Delete(t.Context(), w.secretHere("b")))
	calls := len(w.broker.Calls())
	b, _ = w.pass()
	ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
	assert.Contains(t, ready.Message, "the namespace is being deleted")
	assert.Len(t, w.broker.Calls(), calls)
	assert.False(t, b.Status.OrphanMitigationInProgress)
}
