package credentials

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/owned"
)

// A Secret is offered to the binding whose ID it names, while it is no object's and stays.
func TestOffered(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, id string
		edit       func(*corev1.Secret)
		want       bool
	}{
		"Offered":  {"it says so", "theirs", func(*corev1.Secret) {}, true},
		"Other":    {"it is for another", "mine", func(*corev1.Secret) {}, false},
		"NoID":     {"a binding without an ID adopts nothing", "", func(s *corev1.Secret) { s.Annotations = nil }, false},
		"Owned":    {"it is another object's", "theirs", func(s *corev1.Secret) { s.OwnerReferences = []metav1.OwnerReference{{UID: "other"}} }, false},
		"Deleting": {"it is gone soon, and the binding would be lost with it", "theirs", func(s *corev1.Secret) { s.DeletionTimestamp = new(metav1.Now()) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1beta1.AnnotationCredentialsOf: "theirs"}}}
			tc.edit(secret)
			binding := &v1beta1.ServiceBinding{}
			binding.Spec.ExternalID = tc.id
			assert.Equal(t, tc.want, Offered(secret, binding), tc.reason)
		})
	}
}

// What the API server has decides: a Secret that changed since it was found is not taken over, and
// neither data nor type of one that is taken over change.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		edit   func(*corev1.Secret)
		want   error
	}{
		"Offered": {"it is as it was found", func(*corev1.Secret) {}, nil},
		"Owned":   {"it is another's by now", func(s *corev1.Secret) { s.OwnerReferences = []metav1.OwnerReference{{UID: "other"}} }, owned.ForeignError{Kind: "Secret", Name: "b"}},
		"Token":   {"the cluster fills it in", func(s *corev1.Secret) { s.Type = corev1.SecretTypeServiceAccountToken }, TypeError{Name: "b", Type: corev1.SecretTypeServiceAccountToken}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newEnv(t, func(b *v1beta1.ServiceBinding) { b.Spec.ExternalID = "theirs" })
			secret := &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "b", Annotations: map[string]string{v1beta1.AnnotationCredentialsOf: "theirs"}},
				Type:       corev1.SecretTypeOpaque, Data: map[string][]byte{"a": []byte("1")},
			}
			tc.edit(secret)
			require.NoError(t, w.client.Create(t.Context(), secret))
			require.Equal(t, tc.want, w.secrets.TakeOver(t.Context(), w.binding, Metadata{ID: "theirs"}), tc.reason)
			stored := &corev1.Secret{}
			require.NoError(t, w.client.Get(t.Context(), client.ObjectKeyFromObject(secret), stored))
			assert.Equal(t, secret.Data, stored.Data)
			assert.Equal(t, secret.Type, stored.Type)
			assert.Equal(t, tc.want == nil, metav1.IsControlledBy(stored, w.binding))
		})
	}
}
