package rotation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// undoing has what is of no use be removed, which nobody asked for: a broker that gives
// credentials once does not know that they are lost.
func undoing(s *setting) { s.except = append(s.except, "M10") }

// A Secret that is deleted after a rotation is written again with the credentials in
// force, wherever the broker gives them again; only those that it does not are bound anew.
func TestSecretIsLostAfterRotation(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		edits  []func(*setting)
		anew   bool
	}{
		"Rotatable": {reason: "the request is repeated, with its predecessor"},
		"Plain":     {reason: "the request is repeated", edits: []func(*setting){plain}},
		"Fetchable": {reason: "they are fetched", edits: []func(*setting){fetchable}},
		"OneShot":   {reason: "they are not given again", edits: []func(*setting){oneShot, undoing}, anew: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, tc.edits...)
			b := s.bound()
			former := b.Status.ExternalID
			s.request(b)
			s.rotated(b, former)
			second, secret := b.Status.ExternalID, s.secretOf(b)
			s.Delete(secret)
			s.Eventually(func() (bool, error) {
				found := &corev1.Secret{}
				err := client.IgnoreNotFound(s.client.Get(s.Context(), client.ObjectKeyFromObject(secret), found))
				return found.UID != secret.UID && found.UID != "", err
			})
			s.becomes(b, func() bool { return (b.Status.ExternalID != second) == tc.anew && len(s.broker.Bindings()) == 1 })
			s.ready(b)
			assert.Equal(t, tc.anew, b.Status.ExternalID != second, tc.reason)
			again := s.secretOf(b)
			assert.Equal(t, b.Status.ExternalID, again.Annotations[api.AnnotationCredentialsOf])
			assert.Equal(t, !tc.anew, assert.ObjectsAreEqual(secret.Data, again.Data), tc.reason)
			s.request(b)
			s.rotated(b, b.Status.ExternalID)
			s.unbound(b)
		})
	}
}

// configMapOf is the ConfigMap of a binding.
func (s *stage) configMapOf(b *api.ServiceBinding) *corev1.ConfigMap {
	s.Helper()
	found := &corev1.ConfigMap{}
	require.NoError(s, s.client.Get(s.Context(), client.ObjectKey{Namespace: b.Namespace, Name: b.Spec.SecretName}, found))
	return found
}

// Whoever may delete ConfigMaps cannot end credentials by that, also where the broker does
// not give them again: it is told, and new ones bring the ConfigMap back.
func TestConfigMapIsLost(t *testing.T) {
	t.Parallel()
	s := newStage(t, oneShot)
	b := s.bound(func(b *api.ServiceBinding) {
		b.Spec.SecretTransforms = []api.SecretTransform{{PublishKey: &api.PublishKeyTransform{Key: "host"}}}
	})
	former, secret := b.Status.ExternalID, s.secretOf(b)
	published := s.configMapOf(b)
	s.Delete(published)
	found := s.Says(b, api.ConditionPublished, api.ConditionFalse, "ConfigMapLost")
	assert.Contains(t, found.Message, "spec.rotation.requests")
	s.ready(b)
	assert.Equal(t, former, b.Status.ExternalID)
	assert.Equal(t, secret.UID, s.secretOf(b).UID)
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Unbind)))
	s.request(b)
	s.rotated(b, former)
	_, has := api.FindCondition(b.Status.Conditions, api.ConditionPublished)
	assert.False(t, has)
	assert.NotEqual(t, published.Data, s.configMapOf(b).Data)
	s.unbound(b)
}

// A second request, after the Secret has the credentials of the first and before status
// says so, is not taken for served: the first were to be found by then.
func TestRequestBetweenSecretAndSwitch(t *testing.T) {
	t.Parallel()
	s := newStage(t, crashing)
	b := s.bound(func(b *api.ServiceBinding) { b.Spec.Rotation = &api.Rotation{Overlap: &metav1.Duration{}} })
	former := b.Status.ExternalID
	held := s.writes("servicebindings", func(w *stack.APIWrite) bool {
		return w.Subresource == "status" && strings.Contains(string(w.Body), "Predecessor")
	})
	s.request(b)
	<-held.Arrived
	second := s.secretOf(b).Annotations[api.AnnotationCredentialsOf]
	require.NotEqual(t, former, second)
	s.request(b)
	held.Apply()
	held.Answer()
	s.becomes(b, func() bool {
		return b.Status.Rotation == nil && b.Status.Credentials.Requests == b.Spec.Rotation.Requests
	})
	assert.NotEqual(t, second, b.Status.ExternalID)
	assert.Equal(t, b.Status.ExternalID, s.secretOf(b).Annotations[api.AnnotationCredentialsOf])
	s.unbound(b)
}
