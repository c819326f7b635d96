package controller

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// elsewhere moves the instance to a namespace of its own, shared as sharing says, and decides the binding.
func elsewhere(t *testing.T, sharing *v1beta1.Sharing) *bindingWorld {
	t.Helper()
	w := newBindingWorld(t, func(b *v1beta1.ServiceBinding) {
		b.Spec.InstanceRef.Namespace = "owner"
		b.Spec.ClusterServiceClassRef, b.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: "db"}, &v1beta1.ClusterObjectReference{Name: "small"}
	})
	var instance v1beta1.ServiceInstance
	require.NoError(t, w.cache.Get(t.Context(), client.ObjectKey{Namespace: "n", Name: "i"}, &instance))
	instance.Namespace, instance.ResourceVersion, instance.Spec.Sharing = "owner", "", sharing
	require.NoError(t, w.cache.Create(t.Context(), &instance))
	return w
}

// share makes the sharing of the instance another.
func (w *bindingWorld) share(sharing *v1beta1.Sharing) {
	w.Helper()
	var instance v1beta1.ServiceInstance
	require.NoError(w, w.cache.Get(w.Context(), client.ObjectKey{Namespace: "owner", Name: "i"}, &instance))
	instance.Spec.Sharing = sharing
	require.NoError(w, w.cache.Update(w.Context(), &instance))
}

func withN() *v1beta1.Sharing { return &v1beta1.Sharing{Namespaces: []string{"n"}} }

func unbinding(sharing v1beta1.Sharing) *v1beta1.Sharing {
	sharing.WhenWithdrawn = v1beta1.WithdrawnUnbind
	return &sharing
}

// A binding to a shared instance is one as any other: told of its own namespace, with its Secret there.
func TestSharedBinding(t *testing.T) {
	t.Parallel()
	w := elsewhere(t, withN())
	b, _ := w.pass()
	require.NotNil(t, b.Status.Binding)
	assert.Empty(t, w.condition(b))
	calls := w.broker.Calls(osbtest.Of(osbtest.Bind))
	require.Len(t, calls, 1)
	told, ok := calls[0].Body["context"].(map[string]any)
	require.True(t, ok)
	assert.Equal(t, "n", told["namespace"], "where it is asked for, not where the instance is")
	require.NoError(t, w.cache.Get(t.Context(), client.ObjectKey{Namespace: "n", Name: "b"}, &corev1.Secret{}))
}

// condition is the condition Shared.
func (w *bindingWorld) condition(b *v1beta1.ServiceBinding) v1beta1.Condition {
	w.Helper()
	found, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionShared)
	return found
}

// What becomes of a binding whose instance is not shared with its namespace any more.
func TestSharingWithdrawn(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		sharing *v1beta1.Sharing
		deleted bool
	}{
		"Absent":        {reason: "as an old client's PUT leaves it: nothing was decided"},
		"Empty":         {reason: "no namespace is named, and those that were are not mentioned", sharing: &v1beta1.Sharing{}},
		"Others":        {reason: "others are named", sharing: &v1beta1.Sharing{Namespaces: []string{"other"}}},
		"Unbind":        {reason: "in as many words", sharing: unbinding(v1beta1.Sharing{}), deleted: true},
		"UnbindOthers":  {reason: "for all who are not named", sharing: unbinding(v1beta1.Sharing{Namespaces: []string{"other"}}), deleted: true},
		"UnbindByLabel": {reason: "nor selected", sharing: unbinding(v1beta1.Sharing{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}), deleted: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := elsewhere(t, withN())
			w.pass()
			w.share(tc.sharing)
			b, _ := w.pass()
			shared := w.condition(b)
			assert.Equal(t, v1beta1.ConditionFalse, shared.Status, tc.reason)
			assert.Equal(t, reasonWithdrawn, shared.Reason)
			assert.Equal(t, tc.deleted, b.DeletionTimestamp != nil, tc.reason)
			assert.Len(t, w.broker.Bindings(), 1, "it is unbound in another pass, if at all")
			if tc.deleted {
				assert.Contains(t, <-w.recorder.Events, "InjectedBindResult")
				assert.Contains(t, <-w.recorder.Events, "SharingWithdrawn")
				b, _ = w.pass()
				assert.Nil(t, b)
				assert.Empty(t, w.broker.Bindings())
				w.broker.AssertDuties(t)
				return
			}
			ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
			assert.Equal(t, v1beta1.ConditionTrue, ready.Status, "its credentials are good")
			w.took()
			again, _ := w.pass()
			assert.Equal(t, b.ResourceVersion, again.ResourceVersion, "it is said once")
			w.share(withN())
			b, _ = w.pass()
			assert.Empty(t, w.condition(b), "shared again")
		})
	}
}

// A cache that has not seen consent given again deletes nothing.
func TestWithdrawalIsReadFromTheServer(t *testing.T) {
	t.Parallel()
	w := elsewhere(t, withN())
	b, _ := w.pass()
	for name, tc := range map[string]struct {
		reason string
		now    *v1beta1.Sharing
	}{
		"SharedAgain": {reason: "it is shared again", now: unbinding(*withN())},
		"Unsaid":      {reason: "it does not say so any more", now: &v1beta1.Sharing{}},
	} {
		w.share(tc.now)
		s := w.reconciler.resourceOf(b)
		s.sharing.closed = true
		require.NoError(t, s.sharing.end(t.Context()), name)
		require.NoError(t, w.cache.Get(t.Context(), w.at, b))
		assert.Nil(t, b.DeletionTimestamp, tc.reason)
	}
}

// A later instance of the same name unbinds no binding of the former one.
func TestWithdrawalIsOfTheVeryInstance(t *testing.T) {
	t.Parallel()
	w := elsewhere(t, withN())
	b, _ := w.pass()
	b.Status.ExternalProperties.InstanceExternalID = "former"
	require.NoError(t, w.cache.Status().Update(t.Context(), b))
	w.share(unbinding(v1beta1.Sharing{}))
	b, _ = w.pass()
	assert.Nil(t, b.DeletionTimestamp)
}

// What was withdrawn before it was bound is not bound, whatever there is: and nothing says whether there is something.
func TestNotSharedIsNotBound(t *testing.T) {
	t.Parallel()
	withdrawn, gone := elsewhere(t, nil), elsewhere(t, nil)
	var instance v1beta1.ServiceInstance
	require.NoError(t, gone.cache.Get(t.Context(), client.ObjectKey{Namespace: "owner", Name: "i"}, &instance))
	require.NoError(t, gone.cache.Delete(t.Context(), &instance))
	var said []string
	for _, w := range []*bindingWorld{withdrawn, gone} {
		b, _ := w.pass()
		assert.Empty(t, w.broker.Calls())
		ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
		assert.Equal(t, reasonWithdrawn, ready.Reason)
		assert.Equal(t, v1beta1.ConditionUnknown, ready.Status)
		said = append(said, ready.Message)
	}
	assert.Equal(t, said[0], said[1])
	withdrawn.share(withN())
	b, _ := withdrawn.pass()
	assert.NotNil(t, b.Status.Binding, "shared, it is")
}

// A binding of former times says the same, to the byte, whether there is an instance that is not shared with it or none:
// in status and in events, with all that it was given and without.
func TestABindingDoesNotTellWhatIsThere(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		bound  bool
		lost   client.Object
	}{
		"Bound":         {reason: "it keeps what it has", bound: true},
		"SecretLost":    {reason: "it lacks consent, and not an instance", bound: true, lost: &corev1.Secret{}},
		"ConfigMapLost": {reason: "the class of the instance says whether the broker gives it again", bound: true, lost: &corev1.ConfigMap{}},
		"Unbound":       {reason: "it never had any"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var said []v1beta1.ServiceBindingStatus
			var told []string
			for _, there := range []bool{true, false} {
				w := elsewhere(t, withN())
				if tc.bound {
					w.pass()
				}
				w.lose(tc.lost)
				w.withdraw(there)
				b, _ := w.pass()
				shared := w.condition(b)
				assert.Equal(t, reasonWithdrawn, shared.Reason, tc.reason)
				events := ""
				for len(w.recorder.Events) > 0 {
					events += <-w.recorder.Events
				}
				said, told = append(said, undated(b.Status)), append(told, events)
			}
			assert.Equal(t, said[0], said[1], tc.reason)
			assert.Equal(t, told[0], told[1], tc.reason)
		})
	}
}

// lose removes what was made of the binding's name, if anything. A ConfigMap that was never made is said to have been.
func (w *bindingWorld) lose(part client.Object) {
	w.Helper()
	switch part.(type) {
	case nil:
	case *corev1.ConfigMap:
		var b v1beta1.ServiceBinding
		require.NoError(w, w.cache.Get(w.Context(), w.at, &b))
		b.Status.ConfigMaps = []string{b.Name}
		require.NoError(w, w.cache.Status().Update(w.Context(), &b))
		var class v1beta1.ClusterServiceClass
		require.NoError(w, w.cache.Get(w.Context(), client.ObjectKey{Name: "db"}, &class))
		class.Spec.BindingRetrievable = true
		require.NoError(w, w.cache.Update(w.Context(), &class))
	default:
		part.SetNamespace(w.at.Namespace)
		part.SetName(w.at.Name)
		require.NoError(w, w.cache.Delete(w.Context(), part))
	}
}

// withdraw ends the consent, and the instance as well unless it stays.
func (w *bindingWorld) withdraw(stays bool) {
	w.Helper()
	w.share(nil)
	if stays {
		return
	}
	require.NoError(w, w.cache.Delete(w.Context(), &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "owner", Name: "i"}}))
}

// undated is a status without its times, and without the ID that every binding has of its own.
func undated(status v1beta1.ServiceBindingStatus) v1beta1.ServiceBindingStatus {
	for i := range status.Conditions {
		status.Conditions[i].LastTransitionTime = metav1.Time{}
	}
	if status.Credentials != nil {
		status.Credentials.IssuedAt = nil
	}
	return status
}

// Consent that ends between the pass and its call is noticed.
func TestSharingIsAskedBeforeTheCall(t *testing.T) {
	t.Parallel()
	w := elsewhere(t, withN())
	var stale v1beta1.ServiceInstance
	require.NoError(t, w.cache.Get(t.Context(), client.ObjectKey{Namespace: "owner", Name: "i"}, &stale))
	w.share(nil)
	w.reconciler.reader = olderInstance{Reader: w.cache, instance: &stale}
	w.pass()
	assert.Empty(t, w.broker.Calls())
}

// One that admission did not decide on never passed its door.
func TestUndecidedSharedBindingWaits(t *testing.T) {
	t.Parallel()
	w := elsewhere(t, withN())
	var b v1beta1.ServiceBinding
	require.NoError(t, w.cache.Get(t.Context(), w.at, &b))
	b.Spec.ClusterServiceClassRef, b.Spec.ClusterServicePlanRef = nil, nil
	require.NoError(t, w.cache.Update(t.Context(), &b))
	stored, _ := w.pass()
	assert.Empty(t, w.broker.Calls())
	ready, _ := v1beta1.FindCondition(stored.Status.Conditions, v1beta1.ConditionReady)
	assert.Equal(t, reasonUnresolved, ready.Reason)
}

// The labels of a namespace count as they are.
func TestSharingByLabel(t *testing.T) {
	t.Parallel()
	w := elsewhere(t, &v1beta1.Sharing{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}})
	w.pass()
	assert.Empty(t, w.broker.Calls())
	var ns corev1.Namespace
	require.NoError(t, w.cache.Get(t.Context(), client.ObjectKey{Name: "n"}, &ns))
	ns.Labels = map[string]string{"team": "a"}
	require.NoError(t, w.cache.Update(t.Context(), &ns))
	b, _ := w.pass()
	assert.NotNil(t, b.Status.Binding)
	require.NoError(t, w.cache.Delete(t.Context(), b))
	b, _ = w.pass()
	assert.Nil(t, b, "and nothing of it keeps a binding from going")
	assert.True(t, apierrors.IsNotFound(w.cache.Get(t.Context(), w.at, &v1beta1.ServiceBinding{})))
}

// An olderInstance has not seen what became of an instance.
type olderInstance struct {
	client.Reader

	instance *v1beta1.ServiceInstance
}

func (r olderInstance) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	if i, ok := o.(*v1beta1.ServiceInstance); ok {
		r.instance.DeepCopyInto(i)
		return nil
	}
	return r.Reader.Get(ctx, key, o, options...)
}
