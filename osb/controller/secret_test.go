package controller

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
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

// What a write makes of a Secret that is there already.
func TestSecretWrite(t *testing.T) {
	t.Parallel()
	owned := metav1.OwnerReference{APIVersion: v1beta1.GroupVersion.String(), Kind: "ServiceBinding", Name: "b", UID: "binding-uid", Controller: new(true)}
	other := owned
	other.UID = "an older binding of that name"
	loose := owned
	loose.Controller = nil
	cases := map[string]struct {
		reason  string
		typ     corev1.SecretType
		owners  []metav1.OwnerReference
		foreign bool
		fixed   bool
	}{
		"Immutable":   {reason: "somebody made it so: it is made anew", typ: "servicebinding.io/mysql", owners: []metav1.OwnerReference{owned}, fixed: true},
		"Owned":       {reason: "its data are replaced", typ: "servicebinding.io/mysql", owners: []metav1.OwnerReference{owned}},
		"OtherType":   {reason: "a type cannot change: it is made anew", typ: corev1.SecretTypeOpaque, owners: []metav1.OwnerReference{owned}},
		"Nobodys":     {reason: "it is not touched", typ: "servicebinding.io/mysql", foreign: true},
		"OfNamesake":  {reason: "a name is not an identity", typ: "servicebinding.io/mysql", owners: []metav1.OwnerReference{other}, foreign: true},
		"NotControls": {reason: "an owner that does not control is one of many", typ: "servicebinding.io/mysql", owners: []metav1.OwnerReference{loose}, foreign: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBindingWorld(t)
			has := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "b", OwnerReferences: tc.owners}, Type: tc.typ, Data: map[string][]byte{"old": []byte("o")}, Immutable: &tc.fixed}
			require.NoError(t, w.cache.Create(t.Context(), has))
			if tc.fixed {
				w.fail["update Secret"] = apierrors.NewInvalid(kindSecret.GroupKind(), "b", nil)
			}
			s, b := w.reconciler.secrets, w.bindingHere()
			state, err := s.state(t.Context(), b)
			require.NoError(t, err)
			assert.Equal(t, tc.foreign, state == secretForeign)
			_, err = s.write(t.Context(), b, provenance{serviceType: "mysql"}, givenText("new", "n"))
			if tc.foreign {
				require.ErrorAs(t, err, new(foreignError))
				require.NoError(t, s.remove(t.Context(), b))
				assert.Equal(t, has.ResourceVersion, w.secretHere("b").ResourceVersion)
				return
			}
			require.NoError(t, err)
			got := w.secretHere("b")
			assert.Equal(t, corev1.SecretType("servicebinding.io/mysql"), got.Type)
			assert.Equal(t, map[string][]byte{"new": []byte("n")}, got.Data)
			assert.Equal(t, v1beta1.ManagedByController, got.Labels[v1beta1.LabelManagedBy])
			assert.True(t, metav1.IsControlledBy(got, b))
			require.NoError(t, s.remove(t.Context(), b))
			assert.True(t, apierrors.IsNotFound(w.cache.Get(t.Context(), client.ObjectKeyFromObject(has), has)))
		})
	}
}

// Credentials are not lost because the API server was away for a moment, and what it
// refuses is not tried for long.
func TestSecretWriteTriesAgain(t *testing.T) {
	t.Parallel()
	resource := schema.GroupResource{Resource: "secrets"}
	cases := map[string]struct {
		reason string
		err    error
		lasts  bool
	}{
		"ServerAway": {reason: "it comes back", err: apierrors.NewServiceUnavailable("away")},
		"Timeout":    {reason: "it may answer the next", err: apierrors.NewTimeoutError("slow", 1)},
		"Deadline":   {reason: "no answer is no refusal", err: context.DeadlineExceeded},
		"Conflict":   {reason: "it is read again", err: apierrors.NewConflict(resource, "b", nil)},
		"Forbidden":  {reason: "such as by a quota", err: apierrors.NewForbidden(resource, "b", nil), lasts: true},
		"Invalid":    {reason: "such as too large", err: apierrors.NewInvalid(schema.GroupKind{Kind: "Secret"}, "b", nil), lasts: true},
		"TooLarge":   {reason: "for the API server itself", err: apierrors.NewRequestEntityTooLargeError("large"), lasts: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBindingWorld(t)
			w.fail["create Secret"] = tc.err
			_, err := w.reconciler.secrets.write(t.Context(), w.bindingHere(), provenance{}, givenText("password", "canary"))
			if tc.lasts {
				require.ErrorIs(t, err, tc.err)
				assert.NotContains(t, err.Error(), "canary")
				assert.Equal(t, []string{"create Secret"}, w.took())
				return
			}
			require.NoError(t, err)
			assert.Equal(t, corev1.SecretTypeOpaque, w.secretHere("b").Type)
		})
	}
}

// Whether a Secret would be taken is tried without making one.
func TestSecretRefused(t *testing.T) {
	t.Parallel()
	resource := schema.GroupResource{Resource: "secrets"}
	cases := map[string]struct {
		reason  string
		err     error
		problem bool
		fails   bool
	}{
		"Taken":      {reason: "nothing is in the way"},
		"Forbidden":  {reason: "such as by a quota: someone must act", err: apierrors.NewForbidden(resource, "b", nil), problem: true},
		"Invalid":    {reason: "such as by a policy", err: apierrors.NewInvalid(schema.GroupKind{Kind: "Secret"}, "b", nil), problem: true},
		"There":      {reason: "whose it is is found out elsewhere", err: apierrors.NewAlreadyExists(resource, "b")},
		"ServerAway": {reason: "nobody knows", err: apierrors.NewServiceUnavailable("away"), fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBindingWorld(t)
			w.fail["create Secret"] = tc.err
			problem, err := w.reconciler.secrets.refused(t.Context(), w.bindingHere(), "mysql")
			assert.Equal(t, tc.fails, err != nil)
			require.Equal(t, tc.problem, problem != nil)
			if tc.problem {
				assert.True(t, problem.Waits, "it is tried again")
			}
			state, err := w.reconciler.secrets.state(t.Context(), w.bindingHere())
			require.NoError(t, err)
			assert.Equal(t, secretAbsent, state, "none was made")
		})
	}
}
