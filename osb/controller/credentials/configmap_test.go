package credentials

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/owned"
)

func publishKey(key string) v1beta1.SecretTransform {
	return v1beta1.SecretTransform{PublishKey: &v1beta1.PublishKeyTransform{Key: key}}
}

// Where each key goes. A key is in one of the two, and what comes of another Secret is in
// the Secret, whatever transforms say.
func TestPublish(t *testing.T) {
	t.Parallel()
	rename := func(from, to string) v1beta1.SecretTransform {
		return v1beta1.SecretTransform{RenameKey: &v1beta1.RenameKeyTransform{From: from, To: to}}
	}
	remove := func(key string) v1beta1.SecretTransform {
		return v1beta1.SecretTransform{RemoveKey: &v1beta1.RemoveKeyTransform{Key: key}}
	}
	add := func(key, value string) v1beta1.SecretTransform {
		return v1beta1.SecretTransform{AddKey: &v1beta1.AddKeyTransform{Key: key, StringValue: &value}}
	}
	compute := func(key, path string) v1beta1.SecretTransform {
		return v1beta1.SecretTransform{AddKey: &v1beta1.AddKeyTransform{Key: key, JSONPathExpression: &path}}
	}
	other := v1beta1.SecretTransform{AddKeysFrom: &v1beta1.AddKeysFromTransform{SecretRef: &v1beta1.ObjectReference{Name: "other"}}}
	preset := v1beta1.SecretTransform{Preset: &v1beta1.PresetTransform{Name: v1beta1.PresetServiceBinding}}
	type texts = map[string]string
	cases := map[string]struct {
		reason         string
		transforms     []v1beta1.SecretTransform
		secret, public texts
	}{
		"None":         {reason: "nothing is public by itself", secret: texts{"hostname": "h", "password": "p"}, public: texts{}},
		"One":          {reason: "it is moved", transforms: []v1beta1.SecretTransform{publishKey("hostname")}, secret: texts{"password": "p"}, public: texts{"hostname": "h"}},
		"Absent":       {reason: "nothing happens", transforms: []v1beta1.SecretTransform{publishKey("other")}, secret: texts{"hostname": "h", "password": "p"}, public: texts{}},
		"ThenRenamed":  {reason: "it stays public", transforms: []v1beta1.SecretTransform{publishKey("hostname"), rename("hostname", "host")}, secret: texts{"password": "p"}, public: texts{"host": "h"}},
		"ThenRemoved":  {reason: "it is gone", transforms: []v1beta1.SecretTransform{publishKey("hostname"), remove("hostname")}, secret: texts{"password": "p"}, public: texts{}},
		"ThenAdded":    {reason: "what is added later is another value", transforms: []v1beta1.SecretTransform{publishKey("hostname"), add("hostname", "x")}, secret: texts{"hostname": "x", "password": "p"}, public: texts{}},
		"ThenOver":     {reason: "as is what is renamed to it", transforms: []v1beta1.SecretTransform{publishKey("hostname"), rename("password", "hostname")}, secret: texts{"hostname": "p"}, public: texts{}},
		"Added":        {reason: "what is added may be public", transforms: []v1beta1.SecretTransform{add("tier", "gold"), publishKey("tier")}, secret: texts{"hostname": "h", "password": "p"}, public: texts{"tier": "gold"}},
		"Others":       {reason: "Attack: another Secret's key in a ConfigMap", transforms: []v1beta1.SecretTransform{other, publishKey("token")}, secret: texts{"hostname": "h", "password": "p", "token": "s"}, public: texts{}},
		"OthersByName": {reason: "by another name", transforms: []v1beta1.SecretTransform{other, rename("token", "t"), publishKey("t")}, secret: texts{"hostname": "h", "password": "p", "t": "s"}, public: texts{}},
		"OthersByPath": {reason: "by what is computed", transforms: []v1beta1.SecretTransform{other, compute("c", "{.token}"), publishKey("c")}, secret: texts{"hostname": "h", "password": "p", "token": "s", "c": "s"}, public: texts{}},
		"OthersPreset": {reason: "or by a preset", transforms: []v1beta1.SecretTransform{other, remove("password"), rename("token", "pwd"), preset, publishKey("password")}, secret: texts{"hostname": "h", "host": "h", "password": "s", "pwd": "s"}, public: texts{}},
		"PresetAfter":  {reason: "the copy of a public value is not public", transforms: []v1beta1.SecretTransform{publishKey("hostname"), preset}, secret: texts{"host": "h", "password": "p"}, public: texts{"hostname": "h"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newEnv(t, func(b *v1beta1.ServiceBinding) { b.Spec.SecretTransforms = tc.transforms })
			require.NoError(t, w.client.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "other"}, Data: map[string][]byte{"token": []byte("s")}}))
			made, err := w.secrets.data(t.Context(), w.binding, Origin{}, &osb.Binding{
				Credentials: map[string]json.RawMessage{"hostname": json.RawMessage(`"h"`), "password": json.RawMessage(`"p"`)},
			})
			require.NoError(t, err)
			for want, got := range map[*texts]map[string][]byte{&tc.secret: made.secret, &tc.public: made.public} {
				has := texts{}
				for key, value := range got {
					has[key] = string(value)
				}
				assert.Equal(t, *want, has, tc.reason)
			}
		})
	}
	w := newEnv(t, func(b *v1beta1.ServiceBinding) {
		b.Spec.SecretTransforms = []v1beta1.SecretTransform{publishKey("a b")}
	})
	_, err := w.secrets.data(t.Context(), w.binding, Origin{}, &osb.Binding{Credentials: map[string]json.RawMessage{"a b": nil, "a_b": nil}})
	require.ErrorAs(t, err, new(UnstorableError), "one key is not in both")
}

// A ConfigMap is written with the Secret, follows it, and goes with it.
func TestConfigMapWrite(t *testing.T) {
	t.Parallel()
	w := newEnv(t, func(b *v1beta1.ServiceBinding) {
		b.Spec.SecretTransforms = []v1beta1.SecretTransform{publishKey("host")}
	})
	s, b := w.secrets, w.binding
	given := func(credentials string) *osb.Binding {
		g := &osb.Binding{}
		require.NoError(t, json.Unmarshal([]byte(credentials), &g.Credentials))
		return g
	}
	wrote, err := s.Write(t.Context(), b, Origin{}, given(`{"host":"h","password":"p"}`))
	require.NoError(t, err)
	assert.True(t, wrote.Published)
	c := w.configMap()
	assert.Equal(t, map[string]string{"host": "h"}, c.Data)
	assert.Equal(t, v1beta1.ManagedByController, c.Labels[v1beta1.LabelManagedBy])
	assert.True(t, metav1.IsControlledBy(c, b))
	assert.Equal(t, map[string][]byte{"password": []byte("p")}, w.secret("b").Data)

	wrote, err = s.Write(t.Context(), b, Origin{}, given(`{"host":"h2","password":"p2"}`))
	require.NoError(t, err)
	assert.True(t, wrote.Published)
	assert.Equal(t, map[string]string{"host": "h2"}, w.configMap().Data, "it follows")

	fixed := w.configMap()
	fixed.Immutable = new(true)
	require.NoError(t, w.client.Update(t.Context(), fixed))
	w.fail["update ConfigMap"] = apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "b", nil)
	_, err = s.Write(t.Context(), b, Origin{}, given(`{"host":"h3","password":"p"}`))
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"host": "h3"}, w.configMap().Data, "a user made it immutable: it is created again")
	delete(w.fail, "update ConfigMap")

	require.NoError(t, s.publish(t.Context(), b, map[string][]byte{"host": {0xff, 0xfe}}))
	assert.Equal(t, map[string][]byte{"host": {0xff, 0xfe}}, w.configMap().BinaryData, "what is no text")
	assert.Empty(t, w.configMap().Data)

	wrote, err = s.Write(t.Context(), b, Origin{}, given(`{"password":"p3"}`))
	require.NoError(t, err)
	assert.False(t, wrote.Published)
	assert.Nil(t, w.configMap(), "nothing is left to publish")

	_, err = s.Write(t.Context(), b, Origin{}, given(`{"host":"h"}`))
	require.NoError(t, err)
	require.NoError(t, s.RemoveAll(t.Context(), b))
	assert.Nil(t, w.configMap())
}

// A ConfigMap that is another's is never touched, and the credentials are not stored.
func TestConfigMapForeign(t *testing.T) {
	t.Parallel()
	w := newEnv(t, func(b *v1beta1.ServiceBinding) {
		b.Spec.SecretTransforms = []v1beta1.SecretTransform{publishKey("host")}
	})
	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "b"}, Data: map[string]string{"mine": "m"}}
	require.NoError(t, w.client.Create(t.Context(), foreign))
	s, b := w.secrets, w.binding
	_, err := s.Write(t.Context(), b, Origin{}, givenText("host", "canary"))
	require.ErrorAs(t, err, new(owned.ForeignError))
	assert.NotContains(t, err.Error(), "canary")
	require.NoError(t, s.RemoveAll(t.Context(), b))
	assert.Equal(t, map[string]string{"mine": "m"}, w.configMap().Data)
	_, state, err := s.Find(t.Context(), b, owned.Secret, "b")
	require.NoError(t, err)
	assert.Equal(t, owned.Absent, state, "there is no Secret without its ConfigMap")
}

// A ConfigMap that the API server refuses keeps the credentials from being stored.
func TestConfigMapRefused(t *testing.T) {
	t.Parallel()
	w := newEnv(t, func(b *v1beta1.ServiceBinding) {
		b.Spec.SecretTransforms = []v1beta1.SecretTransform{publishKey("host")}
	})
	w.fail["create ConfigMap"] = apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "b", nil)
	_, err := w.secrets.Write(t.Context(), w.binding, Origin{}, givenText("host", "canary"))
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "canary")
	assert.Equal(t, []string{"create ConfigMap"}, w.requests)
}
