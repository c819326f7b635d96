package osb_test

import (
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/deploy"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// toAdoptBinding is a binding that is said to be at the broker already, not yet created. At
// the end of the test the broker has been asked for no other.
func (s *bindingEnv) toAdoptBinding(id string, edits ...func(*api.ServiceBinding)) *api.ServiceBinding {
	s.Helper()
	binds := len(s.broker.Calls(osbtest.Of(osbtest.Bind)))
	s.Cleanup(func() {
		assert.Len(s, s.broker.Calls(osbtest.Of(osbtest.Bind)), binds, "what is adopted is not bound")
	})
	b := s.reader(edits...)
	b.Spec.ExternalID = id
	b.Annotations = map[string]string{api.AnnotationAdopt: "true"}
	return b
}

// offered is the Secret of a binding to adopt, as a user or svcat import writes it.
func (s *bindingEnv) offered(id string) *corev1.Secret {
	secret := s.Secret("reader")
	secret.Annotations = map[string]string{api.AnnotationCredentialsOf: id}
	secret.StringData = map[string]string{"carried": "from elsewhere"}
	return secret
}

// wasBoundBefore: the broker has what the binding is to adopt. Its deletion removes it, as all
// of a crash goes in the end.
func wasBoundBefore(c *crash) {
	wasProvisioned(c)
	earlier := c.Binding("earlier", "db")
	c.Create(earlier)
	c.Ready(earlier)
	c.change(earlier, `{"metadata": {"annotations": {"`+api.AnnotationAbandon+`": "true"}}}`)
	c.Delete(earlier)
	c.Gone(earlier)
	c.binding.Spec.ExternalID = earlier.Status.ExternalID
	c.binding.Annotations = map[string]string{api.AnnotationAdopt: "true", api.AnnotationDeprovisionAdopted: "true"}
	binds := len(c.broker.Calls(osbtest.Of(osbtest.Bind)))
	c.Cleanup(func() {
		assert.Len(c, c.broker.Calls(osbtest.Of(osbtest.Bind)), binds, "what is adopted is not bound")
	})
}

// wasOffered: a user wrote the Secret of the binding.
func wasOffered(c *crash) {
	secret := c.Secret(c.binding.Name)
	secret.Annotations = map[string]string{api.AnnotationCredentialsOf: c.binding.Spec.ExternalID}
	secret.StringData = map[string]string{}
	for key, value := range c.broker.Bindings()[c.binding.Spec.ExternalID].Credentials {
		secret.StringData[key] = fmt.Sprint(value)
	}
	c.Create(secret)
}

// What the broker has is fetched and left there; what differs, or is not there, is said.
func TestMarkedBindingIsAdopted(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t, fetchable)
	id := s.existing()
	b := s.toAdoptBinding(id)
	s.Create(b)
	s.HasCondition(b, api.ConditionReady, api.ConditionTrue, "Adopted")
	s.agrees(b)
	assert.Equal(t, api.UnbindNotRequired, b.Status.UnbindStatus)
	assert.Len(t, s.broker.Calls(osbtest.Of(osbtest.FetchBinding)), 1)

	s.Delete(s.secretOf(b))
	s.HasCondition(b, api.ConditionReady, api.ConditionTrue, "Adopted")
	s.Delete(b)
	s.Gone(b)
	s.HasEvent(b, "Abandoned")
	assert.Contains(t, s.broker.Bindings(), id)

	absent := s.toAdoptBinding(s.Name("mistyped"))
	s.Create(absent)
	s.bindingStalled(absent, "NotAtBroker")
	s.Delete(absent)
	s.Gone(absent)

	b = s.toAdoptBinding(id)
	b.Annotations[api.AnnotationDeprovisionAdopted] = "true"
	s.Create(b)
	s.HasCondition(b, api.ConditionReady, api.ConditionTrue, "Adopted")
	s.unbound(b)
}

// The parameters that spec names are compared, and no value is said.
func TestMarkedBindingIsCompared(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t, fetchable)
	earlier := s.Binding("earlier", "mydb")
	earlier.Spec.Parameters = env.RawJSON(`{"role": "reader"}`)
	s.Create(earlier)
	s.Ready(earlier)
	s.Change(earlier, func() { earlier.Annotations[api.AnnotationAbandon] = "true" })
	s.Delete(earlier)
	s.Gone(earlier)
	b := s.toAdoptBinding(earlier.Status.ExternalID, func(b *api.ServiceBinding) { b.Spec.Parameters = env.RawJSON(`{"role": "canary"}`) })
	s.Create(b)
	s.bindingStalled(b, "ExternalIDConflict")
	ready, _ := api.FindCondition(b.Status.Conditions, api.ConditionReady)
	assert.Contains(t, ready.Message, `its parameter "role" has another value`)
	assert.NotContains(t, ready.Message, "canary")
	assert.True(t, s.Absent(s.Secret("reader")))
	s.Delete(b)
	s.Gone(b)
}

// Where the broker cannot be asked, the Secret that a user offers is taken over, although the
// controller is held to its own Secrets.
func TestMarkedBindingIsTakenOnTrust(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t)
	policy, err := fs.ReadFile(deploy.Manifests, "vap/secrets.yaml")
	require.NoError(t, err)
	s.Kubectl(string(policy), "apply", "-f", "-")
	id := s.existing()
	secret := s.offered(id)
	s.Create(secret)
	b := s.toAdoptBinding(id)
	s.Create(b)
	s.HasCondition(b, api.ConditionReady, api.ConditionTrue, "AdoptedOnTrust")
	s.HasEvent(b, "AdoptedOnTrust")
	assert.Equal(t, map[string]string{"carried": "from elsewhere"}, texts(s.secretOf(b).Data))
	s.Delete(b)
	s.Gone(b)
	s.Gone(secret)
	assert.Contains(t, s.broker.Bindings(), id)
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Unbind)))
}

// Without the credentials nothing is bound. A user who writes them later is served.
func TestMarkedBindingWithoutCredentials(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t)
	id := s.existing()
	b := s.toAdoptBinding(id)
	s.Create(b)
	s.bindingStalled(b, "CredentialsMissing")
	secret := s.offered(id)
	secret.Annotations = nil
	s.Create(secret)
	said := s.HasCondition(b, api.ConditionReady, api.ConditionFalse, "CredentialsMissing")
	assert.Contains(t, said.Message, api.AnnotationCredentialsOf+"="+id)
	s.Change(secret, func() { secret.Annotations = map[string]string{api.AnnotationCredentialsOf: id} })
	s.HasCondition(b, api.ConditionReady, api.ConditionTrue, "AdoptedOnTrust")
	s.Delete(b)
	s.Gone(b)
}

// The hooks see the annotation alone, too: it is for what was not made here.
func TestMarkOnABindingThatWasMade(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t)
	b := s.bound()
	b.Annotations[api.AnnotationAdopt] = "true"
	err := s.Client().Update(s.Context(), b)
	require.True(t, apierrors.IsInvalid(err), "%v", err)
	assert.ErrorContains(t, err, "was made for it")
	s.unbound(b)
}
