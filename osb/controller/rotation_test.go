package controller

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/credentials"
	"github.com/defaultplan/defaultplan/osb/controller/dependents"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// newRotationWorld is a binding that is bound, and to be rotated.
func newRotationWorld(t *testing.T, edits ...func(*v1beta1.ServiceBinding)) *bindingWorld {
	t.Helper()
	w := newBindingWorld(t, append(edits, func(b *v1beta1.ServiceBinding) { b.Spec.Rotation = &v1beta1.Rotation{} })...)
	w.reconciler.rotating = lifecycle.Rotating{Overlap: time.Hour, Margin: time.Hour, Pause: time.Minute}
	w.pass()
	require.NotNil(t, w.bindingHere().Status.Binding)
	w.took()
	return w
}

// request asks for new credentials, which is brought to status before anything is done.
func (w *bindingWorld) request() {
	w.Helper()
	b := w.bindingHere()
	b.Spec.Rotation.Requests++
	b.Generation++
	require.NoError(w, w.cache.Update(w.Context(), b))
	w.pass()
	w.took()
}

// What a rotation costs the API server: one write before, one after, and that of the
// Secret; the Secret is the same object with other content.
func TestRotationRequests(t *testing.T) {
	t.Parallel()
	w := newRotationWorld(t)
	former, secret := w.bindingHere(), w.secretHere("b")
	w.request()
	b, _ := w.pass()
	const look = "get PartialObjectMetadata"
	assert.Equal(t, []string{look, "patch status ServiceBinding", "get ServiceInstance", "create Secret", "get Secret", "update Secret", "patch status ServiceBinding"}, w.took())
	assert.NotEqual(t, lifecycle.InForce(former), b.Status.ExternalID)
	assert.Equal(t, lifecycle.InForce(former), b.Status.Rotation.ExternalID)
	again := w.secretHere("b")
	assert.Equal(t, secret.UID, again.UID)
	assert.NotEqual(t, secret.Data, again.Data)
	assert.Len(t, w.broker.Bindings(), 2)
	before := b.ResourceVersion
	b, result := w.pass()
	assert.Equal(t, before, b.ResourceVersion, "nothing happens during the overlap")
	assert.LessOrEqual(t, result.RequeueAfter, 66*time.Second)
	w.broker.AssertDuties(t)
}

// Credentials that were stored, and whose status was not, are found in the Secret: the
// broker is not asked again, for it may not give them again.
func TestRotationIsFoundInItsSecret(t *testing.T) {
	t.Parallel()
	w := newRotationWorld(t)
	former := lifecycle.InForce(w.bindingHere())
	w.request()
	b := w.bindingHere()
	next := &v1beta1.BindingRotation{Role: v1beta1.RotationSuccessor, ExternalID: "next", CurrentOperation: v1beta1.BindingBind, UnbindStatus: v1beta1.UnbindRequired, InProgressProperties: b.Status.ExternalProperties}
	b.Status.Rotation = next
	require.NoError(t, w.cache.Status().Update(t.Context(), b))
	secret := w.secretHere("b")
	expires := time.Now().Add(time.Hour).Truncate(time.Second)
	credentials.Metadata{ID: "next", IssuedAt: time.Now(), ExpiresAt: expires}.Annotate(secret)
	require.NoError(t, w.cache.Update(t.Context(), secret))
	calls := len(w.broker.Calls())
	b, _ = w.pass()
	assert.Equal(t, "next", b.Status.ExternalID)
	assert.Equal(t, former, b.Status.Rotation.ExternalID)
	assert.True(t, expires.Equal(b.Status.Credentials.ExpiresAt.Time), "the Secret knows that too")
	assert.Len(t, w.broker.Calls(), calls)
}

// A cache that lags behind the Secret does not have former credentials be fetched, and
// written over the new ones.
func TestRotationIsNotUndoneOnAnOldReading(t *testing.T) {
	t.Parallel()
	w := newRotationWorld(t)
	w.retrievable()
	stale := w.bindingHere()
	w.request()
	w.pass()
	secret := w.secretHere("b")
	require.NotEqual(t, lifecycle.InForce(stale), secret.Annotations[v1beta1.AnnotationCredentialsOf])
	w.reconciler.reader = olderReader{Reader: w.cache, binding: stale}
	_, result := w.pass()
	assert.Equal(t, queue.ConflictPause, result.RequeueAfter)
	assert.Empty(t, w.broker.Calls(osbtest.Of(osbtest.FetchBinding)))
	assert.Equal(t, secret.Data, w.secretHere("b").Data)
}

// A Secret that holds credentials of a binding that is none of the two is as one that was
// lost: those in force are asked for again.
func TestRotationMendsTheSecret(t *testing.T) {
	t.Parallel()
	w := newRotationWorld(t)
	secret := w.secretHere("b")
	data := secret.Data
	secret.Annotations[v1beta1.AnnotationCredentialsOf], secret.Data = "another", map[string][]byte{"password": []byte("useless")}
	require.NoError(t, w.cache.Update(t.Context(), secret))
	w.pass()
	mended := w.secretHere("b")
	assert.Equal(t, lifecycle.InForce(w.bindingHere()), mended.Annotations[v1beta1.AnnotationCredentialsOf])
	assert.Equal(t, data, mended.Data)
	assert.Len(t, w.broker.Bindings(), 1)
}

// Credentials that could not be stored are of no use: what was made is removed, and the
// Secret has what it had.
func TestRotationIsNotStored(t *testing.T) {
	t.Parallel()
	w := newRotationWorld(t)
	former, data := lifecycle.InForce(w.bindingHere()), w.secretHere("b").Data
	w.request()
	w.fail["update Secret"] = apierrors.NewForbidden(corev1.Resource("secrets"), "b", errors.New("no"))
	b, _ := w.pass()
	require.NotNil(t, b.Status.Rotation)
	assert.True(t, b.Status.Rotation.OrphanMitigationInProgress || b.Status.Rotation.Retries > 0)
	assert.Equal(t, former, lifecycle.InForce(b))
	assert.Equal(t, data, w.secretHere("b").Data)
	ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
	assert.Equal(t, v1beta1.ConditionTrue, ready.Status)
}

// The events of a rotation are its own.
func TestRotationEvents(t *testing.T) {
	t.Parallel()
	w := newRotationWorld(t, func(b *v1beta1.ServiceBinding) {})
	drain := func() (all []string) {
		for len(w.recorder.Events) > 0 {
			all = append(all, <-w.recorder.Events)
		}
		return all
	}
	drain()
	w.broker.Next(osbtest.Bind, osbtest.Status(500, "{}"))
	w.request()
	w.pass()
	w.pass()
	require.Contains(t, drain()[0], "Warning "+lifecycle.ReasonRotationFailed)
	b := w.bindingHere()
	b.Status.Rotation.NextRetry = nil
	require.NoError(t, w.cache.Status().Update(t.Context(), b))
	w.pass()
	require.Contains(t, drain()[0], "Normal "+lifecycle.ReasonCredentialsRotated)
	b = w.bindingHere()
	b.Spec.Rotation.Overlap = &metav1.Duration{}
	b.Status.Credentials.IssuedAt = &metav1.Time{Time: time.Now().Add(-time.Minute)}
	require.NoError(t, w.cache.Update(t.Context(), b))
	w.pass()
	w.pass()
	assert.Contains(t, drain()[0], "Normal "+lifecycle.ReasonFormerRemoved)
	assert.Nil(t, w.bindingHere().Status.Rotation)
}

// An instance waits for both bindings of one that rotates.
func TestRotationHolds(t *testing.T) {
	t.Parallel()
	b := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Finalizers: []string{v1beta1.FinalizerServiceCatalog}, DeletionTimestamp: &metav1.Time{Time: time.Now()}}}
	b.Status.UnbindStatus = v1beta1.UnbindSucceeded
	assert.False(t, dependents.Keeps(b))
	b.Status.Rotation = &v1beta1.BindingRotation{}
	assert.True(t, dependents.Keeps(b))
}

func TestHolding(t *testing.T) {
	t.Parallel()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"mine": "stays", v1beta1.AnnotationRenewBefore: "2026-01-01T00:00:00Z"}}}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	credentials.Metadata{ID: "id", IssuedAt: at, ExpiresAt: at.Add(time.Hour), Requests: 3}.Annotate(secret)
	assert.Equal(t, map[string]string{
		"mine": "stays", v1beta1.AnnotationCredentialsOf: "id",
		v1beta1.AnnotationIssuedAt: "2026-01-02T03:04:05Z", v1beta1.AnnotationExpiresAt: "2026-01-02T04:04:05Z",
		v1beta1.AnnotationRotationRequests: "3",
	}, secret.Annotations, "what is not known any more is not said")
	assert.Equal(t, credentials.Metadata{ID: "id", IssuedAt: at, ExpiresAt: at.Add(time.Hour), Requests: 3}, credentials.MetadataOf(secret))
	secret.Annotations[v1beta1.AnnotationRotationRequests] = "many"
	secret.Annotations[v1beta1.AnnotationExpiresAt] = "tomorrow"
	assert.Equal(t, credentials.Metadata{ID: "id", IssuedAt: at}, credentials.MetadataOf(secret))
	assert.Zero(t, credentials.MetadataOf(nil))
}
