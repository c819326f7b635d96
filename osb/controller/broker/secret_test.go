package broker

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// basicBy is an authInfo that names a Secret.
func basicBy(name string) *v1beta1.ServiceBrokerAuthInfo {
	return &v1beta1.ServiceBrokerAuthInfo{Basic: &v1beta1.BasicAuthConfig{SecretRef: &v1beta1.LocalObjectReference{Name: name}}}
}

// aSecret is one in the broker's namespace that a user made.
func aSecret(name string, finalizers ...string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name, Finalizers: finalizers, Labels: map[string]string{"a": "b"}},
		Data:       map[string][]byte{"username": []byte("u"), "password": []byte("p")},
	}
}

// finalizersOf are those of a Secret; nil: it has none, or is not there.
func (w *brokerEnv) finalizersOf(name string) []string {
	w.Helper()
	var secret corev1.Secret
	require.NoError(w, client.IgnoreNotFound(w.client.Get(w.Context(), client.ObjectKey{Namespace: "n", Name: name}, &secret)))
	return secret.Finalizers
}

// names has the broker's authInfo be another.
func (w *brokerEnv) names(auth *v1beta1.ServiceBrokerAuthInfo) {
	w.Helper()
	b, _ := w.broker().object.(*v1beta1.ServiceBroker)
	b.Spec.AuthInfo = auth
	b.Generation++
	require.NoError(w, w.client.Update(w.Context(), b))
}

// The Secret of a ServiceBroker has its finalizer as long as the broker is there and names it.
func TestBrokerKeepsItsSecret(t *testing.T) {
	t.Parallel()
	const theirs, mine = "servicecatalog.kubernetes.io/broker-uid-other", "servicecatalog.kubernetes.io/broker-uid-b"
	w := newBrokerEnv(t, true, aSecret("one", theirs), aSecret("two"))
	w.pass(0)
	assert.Equal(t, []string{theirs}, w.finalizersOf("one"), "it names none")
	w.names(basicBy("one"))
	w.pass(time.Hour)
	assert.Equal(t, []string{theirs, mine}, w.finalizersOf("one"), "beside that of a broker that shares it")
	assert.Equal(t, "one", w.broker().Status.CredentialsSecret)
	w.names(basicBy("two"))
	w.pass(time.Hour)
	assert.Equal(t, []string{theirs}, w.finalizersOf("one"), "which keeps its own")
	assert.Equal(t, []string{mine}, w.finalizersOf("two"))
	w.names(nil)
	w.pass(time.Hour)
	assert.Empty(t, w.finalizersOf("two"))
	assert.Empty(t, w.broker().Status.CredentialsSecret)
	w.names(basicBy("absent"))
	w.pass(time.Hour)
	w.names(basicBy("two"))
	w.pass(time.Hour)
	assert.Equal(t, []string{mine}, w.finalizersOf("two"), "one that is not there is no hindrance")

	require.NoError(t, w.client.Delete(t.Context(), aSecret("two")), "as the namespace's controller does")
	require.NoError(t, w.client.Delete(t.Context(), w.broker().object))
	w.reconciler.Secrets.Client = interceptor.NewClient(w.client.(client.WithWatch), refusingUpdates())
	_, err := w.reconciler.Reconcile(t.Context(), w.request())
	for range 3 { // its plans are marked first
		if err == nil {
			w.clock.SetTime(w.clock.Now().Add(time.Minute))
			_, err = w.reconciler.Reconcile(t.Context(), w.request())
		}
	}
	require.ErrorContains(t, err, "cannot take the broker's finalizer off")
	assert.Contains(t, w.broker().object.GetFinalizers(), v1beta1.FinalizerServiceCatalog, "it stays as long as its Secret has the finalizer")
	w.reconciler.Secrets.Client = w.client
	w.pass(time.Minute)
	assert.Empty(t, w.finalizersOf("two"))
	assert.NoError(t, client.IgnoreNotFound(w.client.Get(t.Context(), w.at, w.emptyBroker())))
}

// The finalizer is put on where a Secret is read for a call and has none: that was made
// later, or made again. What cannot be written keeps no call from being made.
func TestBrokerKeepsItsSecretAtCalls(t *testing.T) {
	t.Parallel()
	known := &v1beta1.ServiceBroker{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "b", UID: types.UID("uid-b")}}
	known.Spec.URL, known.Spec.AuthInfo = "https://b", basicBy("one")
	b, _, c := brokersWith(t, known, aSecret("one"))
	read := func() []string {
		shown, err := b.credentialsOf(t.Context(), brokerOf(known))
		require.NoError(t, err)
		assert.Equal(t, "u", shown.auth.Username)
		var secret corev1.Secret
		require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "n", Name: "one"}, &secret))
		assert.Equal(t, string(secret.UID)+"/"+secret.ResourceVersion, shown.version, "its own write is no news")
		return secret.Finalizers
	}
	b.Secrets = SecretKeeper{Client: c, Live: c}
	assert.Empty(t, read(), "what status does not tell of could not be found again")
	known.Status.CredentialsSecret = "one"
	b.Secrets.Client = interceptor.NewClient(c.(client.WithWatch), refusingUpdates())
	assert.Empty(t, read())
	b.Secrets.Client = c
	assert.Equal(t, []string{v1beta1.FinalizerOfBroker("uid-b")}, read())
	known.DeletionTimestamp = new(metav1.Now())
	var secret corev1.Secret
	require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "n", Name: "one"}, &secret))
	secret.Finalizers = nil
	require.NoError(t, c.Update(t.Context(), &secret))
	assert.Empty(t, read(), "a broker that goes keeps what it has, and takes nothing more")
}

// A right that is missing is told; nothing else stands still for it.
func TestBrokerMayNotLetItsSecretGo(t *testing.T) {
	t.Parallel()
	w := newBrokerEnv(t, true, aSecret("one"), aSecret("two"))
	w.names(basicBy("one"))
	w.pass(0)
	w.pass(time.Hour)
	w.reconciler.Secrets.Client = interceptor.NewClient(w.client.(client.WithWatch), interceptor.Funcs{
		Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "one", errors.New("no Role"))
		},
	})
	w.names(basicBy("two"))
	w.pass(time.Hour)
	assert.Equal(t, "one", w.broker().Status.CredentialsSecret, "which has its finalizer still")
	require.NoError(t, w.client.Delete(t.Context(), w.broker().object))
	for range 4 { // its plans are marked first
		w.pass(time.Minute)
	}
	ready, _ := v1beta1.FindCondition(w.broker().Status.Conditions, v1beta1.ConditionReady)
	assert.Contains(t, ready.Message, "deletion waits for the right to let its Secret go")
	w.reconciler.Secrets.Client = w.client
	w.pass(time.Minute)
	assert.Empty(t, w.finalizersOf("one"))
	assert.NoError(t, client.IgnoreNotFound(w.client.Get(t.Context(), w.at, w.emptyBroker())))
}

// A pass over a broker as it was before another pass noted its Secret does not note another.
func TestSecretOfABrokerIsNotedOnce(t *testing.T) {
	t.Parallel()
	w := newBrokerEnv(t, true, aSecret("one"), aSecret("two"))
	w.pass(0)
	before := w.broker()
	w.names(basicBy("one"))
	w.pass(time.Hour)
	require.Error(t, w.reconciler.noteSecret(t.Context(), before, "two"))
	assert.Equal(t, "one", w.broker().Status.CredentialsSecret)
}

// refusingUpdates has every update fail.
func refusingUpdates() interceptor.Funcs {
	return interceptor.Funcs{Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error {
		return errors.New("a policy says no")
	}}
}

func (w *brokerEnv) request() reconcile.Request { return reconcile.Request{NamespacedName: w.at} }
