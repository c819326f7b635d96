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
	"github.com/defaultplan/defaultplan/e2e/stack/apiproxy"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// undoing removes what is of no use, without a user's request: a broker that
// gives credentials once does not know that they are lost.
func undoing(s *setting) { s.except = append(s.except, "M10") }

// A Secret that is deleted after a rotation is written again with the credentials in
// force, wherever the broker gives them again; only those that it does not are bound
// again.
func TestSecretIsLostAfterRotation(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		edits  []func(*setting)
		again  bool
	}{
		"Rotatable": {reason: "the request is repeated, with its predecessor"},
		"Plain":     {reason: "the request is repeated", edits: []func(*setting){plain}},
		"Fetchable": {reason: "they are fetched", edits: []func(*setting){fetchable}},
		"OneShot":   {reason: "they are not given again", edits: []func(*setting){oneShot, undoing}, again: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t, tc.edits...)
			b := e.bound()
			former := b.Status.ExternalID
			e.request(b)
			e.rotated(b, former)
			second, secret := b.Status.ExternalID, e.SecretOf(b)
			e.Delete(secret)
			e.Eventually(func() (bool, error) {
				found := &corev1.Secret{}
				err := client.IgnoreNotFound(e.Client().Get(e.Context(), client.ObjectKeyFromObject(secret), found))
				return found.UID != secret.UID && found.UID != "", err
			})
			e.Becomes(b, func() bool { return (b.Status.ExternalID != second) == tc.again && len(e.broker.Bindings()) == 1 })
			e.Ready(b)
			assert.Equal(t, tc.again, b.Status.ExternalID != second, tc.reason)
			again := e.SecretOf(b)
			assert.Equal(t, b.Status.ExternalID, again.Annotations[api.AnnotationCredentialsOf])
			assert.Equal(t, !tc.again, assert.ObjectsAreEqual(secret.Data, again.Data), tc.reason)
			e.request(b)
			e.rotated(b, b.Status.ExternalID)
			e.unbound(b)
		})
	}
}

// configMapOf is the ConfigMap of a binding.
func (e *testEnv) configMapOf(b *api.ServiceBinding) *corev1.ConfigMap {
	e.Helper()
	found := &corev1.ConfigMap{ObjectMeta: e.Meta(b.Spec.SecretName)}
	e.Get(found)
	return found
}

// A user who may delete ConfigMaps cannot revoke credentials by that, also
// where the broker does not give them again: it is told, and new ones bring the
// ConfigMap back.
func TestConfigMapIsLost(t *testing.T) {
	t.Parallel()
	e := newEnv(t, oneShot)
	b := e.bound(func(b *api.ServiceBinding) {
		b.Spec.SecretTransforms = []api.SecretTransform{{PublishKey: &api.PublishKeyTransform{Key: "host"}}}
	})
	former, secret := b.Status.ExternalID, e.SecretOf(b)
	published := e.configMapOf(b)
	e.Delete(published)
	found := e.HasCondition(b, api.ConditionPublished, api.ConditionFalse, "ConfigMapLost")
	assert.Contains(t, found.Message, "spec.rotation.requests")
	e.Ready(b)
	assert.Equal(t, former, b.Status.ExternalID)
	assert.Equal(t, secret.UID, e.SecretOf(b).UID)
	assert.Empty(t, e.broker.Calls(osbtest.Of(osbtest.Unbind)))
	e.request(b)
	e.rotated(b, former)
	_, has := api.FindCondition(b.Status.Conditions, api.ConditionPublished)
	assert.False(t, has)
	assert.NotEqual(t, published.Data, e.configMapOf(b).Data)
	e.unbound(b)
}

// A second request, after the Secret has the credentials of the first and before status
// says so, is not taken for served: the first were to be found by then.
func TestRequestBetweenSecretAndSwitch(t *testing.T) {
	t.Parallel()
	e := newEnv(t, crashing)
	b := e.bound(func(b *api.ServiceBinding) { b.Spec.Rotation = &api.Rotation{Overlap: &metav1.Duration{}} })
	former := b.Status.ExternalID
	held := e.writes("servicebindings", func(w *apiproxy.Write) bool {
		return w.Subresource == "status" && strings.Contains(string(w.Body), "Predecessor")
	})
	e.request(b)
	<-held.Arrived
	second := e.SecretOf(b).Annotations[api.AnnotationCredentialsOf]
	require.NotEqual(t, former, second)
	e.request(b)
	held.Apply()
	held.Answer()
	e.Becomes(b, func() bool {
		return b.Status.Rotation == nil && b.Status.Credentials.Requests == b.Spec.Rotation.Requests
	})
	assert.NotEqual(t, second, b.Status.ExternalID)
	assert.Equal(t, b.Status.ExternalID, e.SecretOf(b).Annotations[api.AnnotationCredentialsOf])
	e.unbound(b)
}
