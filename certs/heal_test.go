package certs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// Where the Secret cannot be written, and something is due, what is served stays trusted:
// a bundle that is emptied is filled with its authority, beside what others put there, and
// never with one that is not remembered.
func TestWhatIsServedIsHealedWithoutTheSecret(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(emptyAuthority(), emptySecret(), mutatingHooks(), validatingHooks())
	r := newReplica(t, client, nil)
	r.settled(t)
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "kept", nil)
	client.PrependReactor("patch", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, forbidden })
	secret, err := client.CoreV1().Secrets(ns).Get(t.Context(), "authority", metav1.GetOptions{})
	require.NoError(t, err)
	delete(secret.Data, caKeyFile) // a new authority is due
	_, err = client.CoreV1().Secrets(ns).Update(t.Context(), secret, metav1.UpdateOptions{})
	require.NoError(t, err)
	others := other(t, time.Now()).CA.Cert
	api := client.AdmissionregistrationV1()
	hooks := validatingHooks()
	hooks.Webhooks[0].ClientConfig.CABundle = others
	_, err = api.ValidatingWebhookConfigurations().Update(t.Context(), hooks, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = api.MutatingWebhookConfigurations().Update(t.Context(), mutatingHooks(), metav1.UpdateOptions{})
	require.NoError(t, err)

	for range 2 {
		_, err = r.round(t.Context(), r.live())
		require.ErrorContains(t, err, `cannot write Secret "ns/authority"`)
	}
	require.NoError(t, r.Check(nil))
	mutating, err := api.MutatingWebhookConfigurations().Get(t.Context(), "hooks", metav1.GetOptions{})
	require.NoError(t, err)
	validating, err := api.ValidatingWebhookConfigurations().Get(t.Context(), "hooks", metav1.GetOptions{})
	require.NoError(t, err)
	for _, bundle := range [][]byte{mutating.Webhooks[0].ClientConfig.CABundle, mutating.Webhooks[1].ClientConfig.CABundle, validating.Webhooks[0].ClientConfig.CABundle} {
		carried := carriedBy(t, bundle)
		assert.Len(t, carried, 2, "what is served, and the other's; nothing that is not remembered")
		assert.True(t, holds(carried, r.follower.served.ca))
		assert.True(t, holds(carried, first(others)))
	}
}
