package controller

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/deposit"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// retrievable has the class say that the broker gives credentials again.
func (w *bindingWorld) retrievable() {
	w.Helper()
	var class v1beta1.ClusterServiceClass
	require.NoError(w, w.cache.Get(w.Context(), client.ObjectKey{Name: "db"}, &class))
	class.Spec.BindingRetrievable = true
	require.NoError(w, w.cache.Update(w.Context(), &class))
}

// brokerOf has another broker at the address of the broker, with text at the beginning of
// that which its catalog says of the one, the service or the plan.
func (w *bindingWorld) brokerOf(of, text string, oneShot bool) {
	w.Helper()
	catalog := strings.Replace(bindingsCatalog, `"id":"`+of+`",`, `"id":"`+of+`",`+text+`,`, 1)
	w.broker = osbtest.Start(w.T, osbtest.Options{Catalog: []byte(catalog), OneShot: oneShot})
	w.broker.Add(osbtest.Instance{ID: "instance-id", ServiceID: "db", PlanID: "small"})
	var broker v1beta1.ClusterServiceBroker
	require.NoError(w, w.cache.Get(w.Context(), client.ObjectKey{Name: "broker"}, &broker))
	broker.Spec.URL = w.broker.URL
	require.NoError(w, w.cache.Update(w.Context(), &broker))
}

// rotatable has the plan be one that rotates, here and at a broker of that catalog.
func (w *bindingWorld) rotatable(oneShot bool) {
	w.Helper()
	w.brokerOf("small", `"binding_rotatable":true`, oneShot)
	var plan v1beta1.ClusterServicePlan
	require.NoError(w, w.cache.Get(w.Context(), client.ObjectKey{Name: "small"}, &plan))
	plan.Spec.BindingRotatable = true
	require.NoError(w, w.cache.Update(w.Context(), &plan))
}

// A Secret that is lost after a rotation is written again: the broker is asked by the
// request that the credentials were made by, before and after their predecessor is gone.
func TestRotatedSecretIsLost(t *testing.T) {
	t.Parallel()
	for name, overlap := range map[string]time.Duration{"DuringTheOverlap": time.Hour, "Afterwards": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBindingWorld(t, func(b *v1beta1.ServiceBinding) {
				b.Spec.Rotation = &v1beta1.Rotation{Overlap: &metav1.Duration{Duration: overlap}}
			})
			w.rotatable(false)
			w.reconciler.rotating = lifecycle.Rotating{Margin: time.Hour, Pause: time.Minute}
			w.pass()
			former := lifecycle.InForce(w.bindingHere())
			w.request()
			w.pass()
			w.pass()
			b, _ := w.pass()
			require.NotEqual(t, former, b.Status.ExternalID)
			require.Equal(t, overlap == 0, b.Status.Rotation == nil)
			assert.Equal(t, former, b.Status.Credentials.Predecessor)
			data := w.secretHere("b").Data
			require.NoError(t, w.cache.Delete(t.Context(), w.secretHere("b")))
			again, _ := w.pass()
			assert.Equal(t, data, w.secretHere("b").Data, "the same credentials")
			assert.Equal(t, b.Status.ExternalID, again.Status.ExternalID)
			assert.Equal(t, b.Status.Credentials, again.Status.Credentials)
			assert.Equal(t, b.Status.ExternalProperties, again.Status.ExternalProperties)
			w.broker.AssertDuties(t)
		})
	}
}

// Credentials that cannot be had again are not given up because their ConfigMap is gone,
// or another's: that is told, and new ones bring it back.
func TestConfigMapIsLost(t *testing.T) {
	t.Parallel()
	for name, foreign := range map[string]bool{"Gone": false, "Foreign": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBindingWorld(t, func(b *v1beta1.ServiceBinding) {
				b.Spec.Rotation = &v1beta1.Rotation{}
				b.Spec.SecretTransforms = []v1beta1.SecretTransform{publishKey("host")}
			})
			w.rotatable(true)
			w.reconciler.rotating = lifecycle.Rotating{Margin: time.Hour, Overlap: time.Hour, Pause: time.Minute}
			w.pass()
			former, calls, data := w.bindingHere(), len(w.broker.Calls()), w.secretHere("b").Data
			require.NoError(t, w.cache.Delete(t.Context(), w.configMapHere()))
			other := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "b"}}
			if foreign {
				require.NoError(t, w.cache.Create(t.Context(), other))
			}
			w.pass()
			b, _ := w.pass()
			assert.Len(t, w.broker.Calls(), calls, "the broker is asked for nothing")
			assert.Equal(t, lifecycle.InForce(former), lifecycle.InForce(b))
			assert.Equal(t, data, w.secretHere("b").Data)
			ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
			assert.Equal(t, v1beta1.ConditionTrue, ready.Status)
			told, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionPublished)
			assert.Equal(t, v1beta1.ConditionFalse, told.Status)
			assert.Equal(t, deposit.ReasonConfigMapLost, told.Reason)
			before := b.ResourceVersion
			b, _ = w.pass()
			assert.Equal(t, before, b.ResourceVersion, "it is told once")
			if foreign {
				require.NoError(t, w.cache.Delete(t.Context(), other))
			}
			w.request()
			w.pass()
			b, _ = w.pass()
			assert.NotNil(t, w.configMapHere())
			_, has := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionPublished)
			assert.False(t, has)
			w.broker.AssertDuties(t)
		})
	}
}

// Where credentials are given again, a ConfigMap is written again; a broker that then does
// not give them does not cost those that are there.
func TestConfigMapIsLostAndNotFetched(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t, func(b *v1beta1.ServiceBinding) {
		b.Spec.SecretTransforms = []v1beta1.SecretTransform{publishKey("host")}
	})
	w.brokerOf("db", `"bindings_retrievable":true`, false)
	w.retrievable()
	w.pass()
	former := lifecycle.InForce(w.bindingHere())
	require.NoError(t, w.cache.Delete(t.Context(), w.configMapHere()))
	w.broker.Next(osbtest.FetchBinding, osbtest.Status(410, "{}"), osbtest.Status(200, "{}"))
	for range 2 {
		b, _ := w.pass()
		assert.False(t, b.Status.OrphanMitigationInProgress)
		b.Status.NextRetry = nil
		require.NoError(t, w.cache.Status().Update(t.Context(), b))
	}
	require.Nil(t, w.configMapHere())
	w.pass()
	assert.NotNil(t, w.configMapHere())
	assert.Equal(t, former, lifecycle.InForce(w.bindingHere()))
	assert.Empty(t, w.broker.Calls(osbtest.Of(osbtest.Unbind)))
}

// A request that is raised after the Secret has new credentials asks for others, although
// the switch was stored only after it.
func TestRotationRequestAfterTheSecret(t *testing.T) {
	t.Parallel()
	w := newRotationWorld(t)
	w.request()
	b := w.bindingHere()
	b.Status.Rotation = &v1beta1.BindingRotation{
		Role: v1beta1.RotationSuccessor, ExternalID: "next", CurrentOperation: v1beta1.BindingBind,
		UnbindStatus: v1beta1.UnbindRequired, InProgressProperties: b.Status.ExternalProperties,
	}
	require.NoError(t, w.cache.Status().Update(t.Context(), b))
	secret := w.secretHere("b")
	s := w.reconciler.resourceOf(b)
	s.deposit.Metadata("next", givenText("host", "h")).Annotate(secret)
	require.NoError(t, w.cache.Update(t.Context(), secret))
	w.request() // brings the switch with it
	b = w.bindingHere()
	assert.EqualValues(t, 2, b.Spec.Rotation.Requests)
	w.pass()
	b = w.bindingHere()
	assert.Equal(t, "next", b.Status.ExternalID)
	assert.EqualValues(t, 1, b.Status.Credentials.Requests, "the second is still to be served")
	s = w.reconciler.resourceOf(b)
	require.NoError(t, s.deposit.Find(t.Context()))
	assert.EqualValues(t, 1, s.deposit.Metadata("next", givenText("host", "h")).Requests, "what is stored again serves no more")
}
