package controller

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/dedicated"
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
	assert.Equal(t, dedicated.ReasonDedicated, says(b).Reason)
	assert.Empty(t, w.broker.Calls(osbtest.Of(osbtest.Bind)))
}
