package controller

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/credentials"
	"github.com/defaultplan/defaultplan/osb/controller/deposit"
)

func givenText(key, value string) *osb.Binding {
	text, _ := json.Marshal(value) //nolint:errchkjson // a text can be encoded
	return &osb.Binding{Credentials: map[string]json.RawMessage{key: text}}
}

// secretHere is the Secret that is there now.
func (w *bindingWorld) secretHere(name string) *corev1.Secret {
	w.Helper()
	var secret corev1.Secret
	require.NoError(w, w.cache.Get(w.Context(), client.ObjectKey{Namespace: "n", Name: name}, &secret))
	return &secret
}

func (w *bindingWorld) bindingHere() *v1beta1.ServiceBinding {
	w.Helper()
	var b v1beta1.ServiceBinding
	require.NoError(w, w.cache.Get(w.Context(), w.at, &b))
	return &b
}

// configMapHere is the ConfigMap that is there now; nil for none.
func (w *bindingWorld) configMapHere() *corev1.ConfigMap {
	w.Helper()
	var c corev1.ConfigMap
	err := w.cache.Get(w.Context(), client.ObjectKey{Namespace: "n", Name: "b"}, &c)
	require.NoError(w, client.IgnoreNotFound(err))
	if err != nil {
		return nil
	}
	return &c
}

// The type of a Secret that is created is the binding's own, whatever its plan's is now.
func TestSecretTypeOfBinding(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ reason, own, want string }{
		"Own":  {"the class was renamed since the binding was decided", "mariadb", "mariadb"},
		"None": {"an older binding has none: the class says it", "", "mysql"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBindingWorld(t, func(b *v1beta1.ServiceBinding) { b.Spec.ServiceType = tc.own })
			for range 3 {
				w.pass()
			}
			assert.Equal(t, corev1.SecretType("servicebinding.io/"+tc.want), w.secretHere("b").Type, tc.reason)
		})
	}
}

// Before anything is bound, a binding waits for a ConfigMap that is another's to go.
func TestBindingWaitsForForeignConfigMap(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t, func(b *v1beta1.ServiceBinding) {
		b.Spec.SecretTransforms = []v1beta1.SecretTransform{publishKey("host")}
	})
	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "b"}, Data: map[string]string{"mine": "m"}}
	require.NoError(t, w.cache.Create(t.Context(), foreign))
	b, _ := w.pass()
	ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
	assert.Equal(t, credentials.ReasonNotStored, ready.Reason)
	assert.Contains(t, ready.Message, `ConfigMap "b"`)
	assert.Empty(t, w.broker.Bindings())
	assert.Equal(t, map[string]string{"mine": "m"}, w.configMapHere().Data)
}

// Keys that transforms name and the broker does not give are told once, by name, and are no
// reason not to be Ready; a pass that writes no credentials leaves that as it is.
func TestTransformsFindNoKey(t *testing.T) {
	t.Parallel()
	w := newRotationWorld(t, func(b *v1beta1.ServiceBinding) {
		b.Spec.SecretTransforms = []v1beta1.SecretTransform{
			{AddKey: &v1beta1.AddKeyTransform{Key: "made", StringValue: new("canary")}},
			{RenameKey: &v1beta1.RenameKeyTransform{From: "made", To: "moved"}},
			{RenameKey: &v1beta1.RenameKeyTransform{From: "made", To: "again"}},
			{RemoveKey: &v1beta1.RemoveKeyTransform{Key: "typo"}},
			publishKey("nowhere"),
			{RemoveKey: &v1beta1.RemoveKeyTransform{Key: "moved"}},
		}
	})
	const says = `the credentials have no such key, so these did nothing: secretTransforms[2].renameKey.from "made", ` +
		`secretTransforms[3].removeKey.key "typo", secretTransforms[4].publishKey.key "nowhere"`
	b := w.bindingHere()
	told, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionTransformed)
	assert.Equal(t, v1beta1.ConditionFalse, told.Status)
	assert.Equal(t, []string{deposit.ReasonKeysNotFound, says}, []string{told.Reason, told.Message})
	ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
	assert.Equal(t, v1beta1.ConditionTrue, ready.Status)
	first, then := <-w.recorder.Events, <-w.recorder.Events
	assert.Contains(t, first, "Normal InjectedBindResult")
	assert.Equal(t, "Warning KeysNotFound "+says, then)

	again, _ := w.pass()
	assert.Equal(t, b.ResourceVersion, again.ResourceVersion, "it is told already")

	again.Spec.SecretTransforms = nil // as if the broker had all keys now
	require.NoError(t, w.cache.Update(t.Context(), again))
	w.request()
	b, _ = w.pass()
	_, has := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionTransformed)
	assert.False(t, has, "the new credentials have them")
}

func publishKey(key string) v1beta1.SecretTransform {
	return v1beta1.SecretTransform{PublishKey: &v1beta1.PublishKeyTransform{Key: key}}
}

// credentialsIn are the credentials of a JSON object.
func credentialsIn(t *testing.T, text string) map[string]json.RawMessage {
	t.Helper()
	var credentials map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(text), &credentials))
	return credentials
}
