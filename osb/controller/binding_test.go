package controller

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/credentials"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// What a binding costs the API server, and that one that is bound costs no more than the
// look at its Secret.
func TestBindingRequests(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	const look = "get PartialObjectMetadata"
	b, _ := w.pass()
	require.NotNil(t, b.Status.Binding)
	assert.Equal(t, []string{look, "patch status ServiceBinding", "get ServiceInstance", "create Secret", "patch status ServiceBinding"}, w.took())
	again, result := w.pass()
	assert.Equal(t, []string{look}, w.took())
	assert.Equal(t, b.ResourceVersion, again.ResourceVersion)
	assert.GreaterOrEqual(t, result.RequeueAfter, time.Minute, "its Secret is read again")

	require.NoError(t, w.cache.Delete(t.Context(), b))
	b, _ = w.pass()
	assert.Nil(t, b)
	assert.Equal(t, []string{"patch status ServiceBinding", look, "delete PartialObjectMetadata", "patch ServiceBinding"}, w.took())
	assert.Empty(t, w.broker.Bindings())
	w.broker.AssertDuties(t)
}

// Status names the Secret only where it is complete and the binding's own.
func TestBindingNamesItsSecret(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t, func(b *v1beta1.ServiceBinding) { b.Spec.SecretName = "s" })
	b, _ := w.pass()
	require.NotNil(t, b.Status.Binding)
	assert.Equal(t, "s", b.Status.Binding.Name)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "s"}}
	require.NoError(t, w.cache.Get(t.Context(), client.ObjectKeyFromObject(secret), secret))
	secret.OwnerReferences = nil
	require.NoError(t, w.cache.Update(t.Context(), secret))
	b, _ = w.pass()
	assert.Nil(t, b.Status.Binding)
	ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
	assert.Equal(t, v1beta1.ConditionUnknown, ready.Status)
	assert.Equal(t, credentials.ReasonNotStored, ready.Reason)
	assert.NotNil(t, b.Status.ExternalProperties, "the broker has it still")
}

// A Secret that cannot be removed delays the call to the broker: otherwise a
// user could find credentials that have ended.
func TestBindingKeepsItsOrderAtDeletion(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	b, _ := w.pass()
	require.NoError(t, w.cache.Delete(t.Context(), b))
	w.fail["delete PartialObjectMetadata"] = errors.New("no")
	b, _ = w.pass()
	require.NotNil(t, b)
	assert.Empty(t, w.broker.Calls(osbtest.Of(osbtest.Unbind)))
	assert.False(t, b.Status.NextRetry.IsZero())
}

// A cache that lags is found out by the intent's write, before anything is sent.
func TestBindingIsNotSentOnAnOldReading(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	stale := &v1beta1.ServiceBinding{}
	require.NoError(t, w.cache.Get(t.Context(), w.at, stale))
	w.pass()
	w.reconciler.reader = olderReader{Reader: w.cache, binding: stale}
	_, result := w.pass()
	assert.Equal(t, queue.ConflictPause, result.RequeueAfter)
	assert.Len(t, w.broker.Calls(osbtest.Of(osbtest.Bind)), 1)
}

// A binding that admission has not decided lacks the defaults for bindings: it is not bound, also
// where its instance is decided. One that is bound stays so: the retired catalog wrote no references.
func TestUndecidedBindingIsNotBound(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	refer := func(class, plan *v1beta1.ClusterObjectReference) {
		b := &v1beta1.ServiceBinding{}
		require.NoError(t, w.cache.Get(t.Context(), w.at, b))
		b.Spec.ClusterServiceClassRef, b.Spec.ClusterServicePlanRef = class, plan
		require.NoError(t, w.cache.Update(t.Context(), b))
	}
	refer(nil, nil)
	b, _ := w.pass()
	assert.Empty(t, w.broker.Calls(osbtest.Of(osbtest.Bind)))
	ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
	assert.Equal(t, reasonUnresolved, ready.Reason)

	refer(&v1beta1.ClusterObjectReference{Name: "db"}, &v1beta1.ClusterObjectReference{Name: "small"})
	b, _ = w.pass()
	require.NotNil(t, b.Status.Binding)

	refer(nil, nil)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: b.Status.Binding.Name}}
	require.NoError(t, w.cache.Delete(t.Context(), secret))
	b, _ = w.pass()
	assert.NotNil(t, b.Status.Binding)
	assert.Len(t, w.broker.Calls(osbtest.Of(osbtest.Bind)), 2)
}

// Admission never decides a binding for which a broker was called. Such a binding is of the retired
// catalog and its bind failed, or was made while its plan was lost.
func TestUndecidedBindingThatWasTriedIsBound(t *testing.T) {
	t.Parallel()
	for _, status := range []v1beta1.UnbindStatus{v1beta1.UnbindRequired, v1beta1.UnbindFailed, v1beta1.UnbindSucceeded} {
		t.Run(string(status), func(t *testing.T) {
			t.Parallel()
			w := newBindingWorld(t, func(b *v1beta1.ServiceBinding) {
				b.Spec.ClusterServiceClassRef, b.Spec.ClusterServicePlanRef = nil, nil
				b.Status.UnbindStatus = status
			})
			b, _ := w.pass()
			assert.NotNil(t, b.Status.Binding)
			assert.Len(t, w.broker.Calls(osbtest.Of(osbtest.Bind)), 1)
		})
	}
}

// What is gone rests no more: also what waited, and never had our finalizer.
func TestWhatIsGoneRestsNoMore(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	at := client.ObjectKey{Namespace: "n", Name: "waits"}
	waits := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: at.Namespace, Name: at.Name, UID: "waits"}}
	waits.Spec.InstanceRef = &v1beta1.InstanceReference{Name: "absent"}
	require.NoError(t, w.cache.Create(t.Context(), waits))
	for range 2 {
		_, err := w.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: at})
		require.NoError(t, err)
	}
	assert.Equal(t, 1, w.reconciler.engine.rests.Count())
	require.NoError(t, w.cache.Delete(t.Context(), waits))
	_, err := w.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: at})
	require.NoError(t, err)
	assert.Zero(t, w.reconciler.engine.rests.Count())
}
