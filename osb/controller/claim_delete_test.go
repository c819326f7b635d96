package controller

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// Abandoning the binding abandons its instance, too.
func TestAbandonedClaim(t *testing.T) {
	t.Parallel()
	w := newClaimWorld(t, func(b *v1beta1.ServiceBinding) { b.Annotations[v1beta1.AnnotationAbandon] = "true" })
	b := w.bound()
	require.NoError(t, w.cache.Delete(t.Context(), b))
	w.pass()
	w.pass()
	assert.Equal(t, "true", w.instance().Annotations[v1beta1.AnnotationAbandon])
	assert.NotNil(t, w.instance().DeletionTimestamp)
	w.lets()
	b, _ = w.pass()
	assert.Nil(t, b)
	assert.Empty(t, w.broker.Calls(osbtest.Of(osbtest.Unbind)))
	require.Len(t, w.recorder.Events, 3)
	<-w.recorder.Events
	<-w.recorder.Events
	assert.Contains(t, <-w.recorder.Events, "it was abandoned")
}

// With --cascade=orphan the instance stays, and is not dedicated any more.
func TestOrphanedInstanceOfAClaim(t *testing.T) {
	t.Parallel()
	w := newClaimWorld(t, func(b *v1beta1.ServiceBinding) { b.Finalizers = append(b.Finalizers, metav1.FinalizerOrphanDependents) })
	b := w.bound()
	require.NoError(t, w.cache.Delete(t.Context(), b))
	w.pass()
	b, _ = w.pass()
	assert.Equal(t, v1beta1.UnbindSucceeded, b.Status.UnbindStatus)
	assert.Contains(t, says(b).Message, "stays")
	instance := w.instance()
	require.Nil(t, instance.DeletionTimestamp)
	instance.OwnerReferences = nil
	require.NoError(t, w.cache.Update(t.Context(), instance))
	w.pass()
	require.NoError(t, w.cache.Get(t.Context(), w.at, b))
	assert.Equal(t, []string{metav1.FinalizerOrphanDependents}, b.Finalizers)
	assert.Nil(t, w.instance().DeletionTimestamp)
}

// No other binding is bound to a dedicated instance.
func TestBindingToAnothersOwnInstance(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	var instance v1beta1.ServiceInstance
	require.NoError(t, w.cache.Get(t.Context(), client.ObjectKey{Namespace: "n", Name: "i"}, &instance))
	owner := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Name: "other", UID: "other-uid"}}
	instance.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, v1beta1.GroupVersion.WithKind("ServiceBinding"))}
	require.NoError(t, w.cache.Update(t.Context(), &instance))
	b, _ := w.pass()
	assert.Equal(t, reasonDedicated, says(b).Reason)
	assert.Empty(t, w.broker.Calls(osbtest.Of(osbtest.Bind)))
}

// The own instance of a binding waits for it as for any other, as long as it is bound.
func TestOwnInstanceWaitsForItsBinding(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason string
		edit   func(*v1beta1.ServiceBinding)
		want   []string
	}{
		"Bound":   {"its unbind is not done", func(*v1beta1.ServiceBinding) {}, []string{"b"}},
		"Unbound": {"it is there, and waits for the instance", func(b *v1beta1.ServiceBinding) { b.Status.UnbindStatus = v1beta1.UnbindSucceeded }, nil},
		"Another": {"one of the same name that was made later", func(b *v1beta1.ServiceBinding) { b.UID = "later" }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := bindingTo("b", func(b *v1beta1.ServiceBinding) { b.Spec.InstanceRef, b.UID = nil, "uid" })
			instance := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{
				Namespace: "n", Name: v1beta1.DedicatedInstanceName(owner),
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, v1beta1.GroupVersion.WithKind("ServiceBinding"))},
			}}
			test.edit(owner)
			c := stored(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, owner)
			names, err := holders{client: c, live: c}.of(t.Context(), instance)
			require.NoError(t, err)
			assert.Equal(t, test.want, names, test.reason)
		})
	}
}

// An instance that waits looks again when a binding has left its broker, and not at each
// of its changes.
func TestLetsGo(t *testing.T) {
	t.Parallel()
	bound, unbound := bindingTo("b"), bindingTo("b", func(b *v1beta1.ServiceBinding) { b.Status.UnbindStatus = v1beta1.UnbindSucceeded })
	passes := letsGo()
	assert.True(t, passes.Delete(event.DeleteEvent{Object: bound}))
	assert.True(t, passes.Update(event.UpdateEvent{ObjectOld: bound, ObjectNew: unbound}))
	assert.False(t, passes.Update(event.UpdateEvent{ObjectOld: bound, ObjectNew: bound}))
	assert.False(t, passes.Update(event.UpdateEvent{ObjectOld: unbound, ObjectNew: unbound}))
	assert.False(t, passes.Create(event.CreateEvent{Object: bound}))
	assert.False(t, passes.Generic(event.GenericEvent{Object: bound}))
}
