package endpoints_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// A key that came from another Secret is never published, whatever transforms say, also
// under another name; what the broker gave is.
func TestKeysOfAnotherSecretAreNotPublished(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.Create(&corev1.Secret{ObjectMeta: e.Meta("other"), StringData: map[string]string{"token": "canary", "key": "canary"}})
	b := e.binding("reader", object{"host": "db.example.com", "password": "hunter2"})
	b.Spec.SecretTransforms = []api.SecretTransform{
		{AddKeysFrom: &api.AddKeysFromTransform{SecretRef: &api.ObjectReference{Namespace: e.Namespace, Name: "other"}}},
		{RenameKey: &api.RenameKeyTransform{From: "key", To: "renamed"}},
		{PublishKey: &api.PublishKeyTransform{Key: "token"}},
		{PublishKey: &api.PublishKeyTransform{Key: "renamed"}},
		{PublishKey: &api.PublishKeyTransform{Key: "host"}},
	}
	e.Create(b)
	e.HasCondition(b, api.ConditionReady, api.ConditionTrue, "")
	published, secret := e.configMap("reader"), e.Secret("reader")
	e.Get(published)
	e.Get(secret)
	assert.Equal(t, map[string]string{"host": "db.example.com"}, published.Data)
	assert.Empty(t, published.BinaryData)
	assert.Equal(t, "canary", string(secret.Data["token"]))
	assert.Equal(t, "canary", string(secret.Data["renamed"]))
}
