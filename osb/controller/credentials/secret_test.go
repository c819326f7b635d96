package credentials

import (
	"cmp"
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/owned"
)

// What a write makes of a Secret that is there already.
func TestSecretWrite(t *testing.T) {
	t.Parallel()
	own := metav1.OwnerReference{APIVersion: v1beta1.GroupVersion.String(), Kind: "ServiceBinding", Name: "b", UID: "binding-uid", Controller: new(true)}
	other := own
	other.UID = "an older binding of that name"
	loose := own
	loose.Controller = nil
	cases := map[string]struct {
		reason  string
		typ     corev1.SecretType
		owners  []metav1.OwnerReference
		foreign bool
		fixed   bool
		// gets is the type that it has afterwards, where that is another one.
		gets corev1.SecretType
	}{
		"Immutable":   {reason: "its data cannot be replaced: it is created again", typ: "servicebinding.io/mysql", owners: []metav1.OwnerReference{own}, fixed: true},
		"Owned":       {reason: "its data are replaced", typ: "servicebinding.io/mysql", owners: []metav1.OwnerReference{own}},
		"Renamed":     {reason: "the service type was renamed: the Secret keeps its type", typ: "servicebinding.io/mariadb", owners: []metav1.OwnerReference{own}},
		"TypedLater":  {reason: "the plan had no type when the Secret was created", typ: corev1.SecretTypeOpaque, owners: []metav1.OwnerReference{own}},
		"FixedOther":  {reason: "one that is created again has its type, too", typ: "servicebinding.io/mariadb", owners: []metav1.OwnerReference{own}, fixed: true},
		"Token":       {reason: "Attack: the cluster fills in one of this type, which no binding's Secret has", typ: corev1.SecretTypeServiceAccountToken, owners: []metav1.OwnerReference{own}, gets: "servicebinding.io/mysql"},
		"Nobodys":     {reason: "it is not touched", typ: "servicebinding.io/mysql", foreign: true},
		"OfNamesake":  {reason: "a name is not an identity", typ: "servicebinding.io/mysql", owners: []metav1.OwnerReference{other}, foreign: true},
		"NotControls": {reason: "an owner that does not control is one of many", typ: "servicebinding.io/mysql", owners: []metav1.OwnerReference{loose}, foreign: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newEnv(t)
			has := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "b", UID: "secret-uid", OwnerReferences: tc.owners}, Type: tc.typ, Data: map[string][]byte{"old": []byte("o")}, Immutable: &tc.fixed}
			require.NoError(t, w.client.Create(t.Context(), has))
			if tc.fixed {
				w.fail["update Secret"] = apierrors.NewInvalid(owned.Secret.GroupKind(), "b", nil)
				w.sees = func(request string) {
					if request == "delete Secret" { // the API server is away for a moment after it
						w.fail["create Secret"] = apierrors.NewServiceUnavailable("away")
					}
				}
			}
			s, b := w.secrets, w.binding
			_, state, err := s.Find(t.Context(), b, owned.Secret, "b")
			require.NoError(t, err)
			assert.Equal(t, tc.foreign, state == owned.Foreign)
			_, err = s.Write(t.Context(), b, Origin{ServiceType: "mysql"}, givenText("new", "n"))
			if tc.foreign {
				require.ErrorAs(t, err, new(owned.ForeignError))
				require.NoError(t, s.RemoveAll(t.Context(), b))
				assert.Equal(t, has.ResourceVersion, w.secret("b").ResourceVersion)
				return
			}
			require.NoError(t, err)
			got := w.secret("b")
			assert.Equal(t, cmp.Or(tc.gets, tc.typ), got.Type)
			assert.Equal(t, !tc.fixed && tc.gets == "", got.UID == has.UID, "a Secret keeps its UID where it can")
			assert.Equal(t, map[string][]byte{"new": []byte("n")}, got.Data)
			assert.Equal(t, v1beta1.ManagedByController, got.Labels[v1beta1.LabelManagedBy])
			assert.True(t, metav1.IsControlledBy(got, b))
			require.NoError(t, s.RemoveAll(t.Context(), b))
			assert.True(t, apierrors.IsNotFound(w.client.Get(t.Context(), client.ObjectKeyFromObject(has), has)))
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
			w := newEnv(t)
			w.fail["create Secret"] = tc.err
			_, err := w.secrets.Write(t.Context(), w.binding, Origin{}, givenText("password", "canary"))
			if tc.lasts {
				require.ErrorIs(t, err, tc.err)
				assert.NotContains(t, err.Error(), "canary")
				assert.Equal(t, []string{"create Secret"}, w.requests)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, corev1.SecretTypeOpaque, w.secret("b").Type)
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
		"ServerAway": {reason: "it is unknown", err: apierrors.NewServiceUnavailable("away"), fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newEnv(t)
			w.fail["create Secret"] = tc.err
			problem, err := w.secrets.Refused(t.Context(), w.binding, "mysql")
			assert.Equal(t, tc.fails, err != nil)
			require.Equal(t, tc.problem, problem != nil)
			if tc.problem {
				assert.True(t, problem.Waits, "it is tried again")
			}
			_, state, err := w.secrets.Find(t.Context(), w.binding, owned.Secret, "b")
			require.NoError(t, err)
			assert.Equal(t, owned.Absent, state, "none was made")
		})
	}
}
