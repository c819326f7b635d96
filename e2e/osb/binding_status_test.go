package osb_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// What clients of the retired catalog read of a binding, and what kstatus and kubectl
// wait for.
func TestBindingStatusForOldAndNewClients(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t)
	recorded := s.recordBinding("reader")
	b := s.reader(func(b *api.ServiceBinding) { b.Spec.Parameters = env.RawJSON(`{"role": "reader"}`) })
	s.Create(b)
	s.Kubectl("", "wait", "--for=condition=Ready", "--timeout=30s", "servicebinding/reader")
	s.Get(b)
	status := b.Status
	assert.Equal(t, b.Generation, status.ReconciledGeneration)
	assert.Equal(t, b.Generation, status.ObservedGeneration)
	assert.Equal(t, api.UnbindRequired, status.UnbindStatus)
	assert.Equal(t, "Ready", status.LastConditionState)
	assert.Equal(t, b.Spec.ExternalID, status.ExternalID)
	assert.Empty(t, status.CurrentOperation)
	assert.False(t, status.AsyncOpInProgress)
	assert.False(t, status.OrphanMitigationInProgress)
	assert.Nil(t, status.InProgressProperties)
	assert.Nil(t, status.OperationStartTime)
	require.NotNil(t, status.ExternalProperties)
	assert.JSONEq(t, `{"role": "reader"}`, string(status.ExternalProperties.Parameters.Raw))
	assert.Len(t, status.ExternalProperties.ParameterChecksum, 64)
	assert.Equal(t, b.Spec.UserInfo.Username, status.ExternalProperties.UserInfo.Username)
	for _, typ := range []string{api.ConditionFailed, api.ConditionReconciling, api.ConditionStalled, api.ConditionOrphanMitigation} {
		_, has := api.FindCondition(status.Conditions, typ)
		assert.False(t, has, typ)
	}
	// No flapping: what is in flight, and what came of it.
	assert.Equal(t, []string{"Unknown BindingRequestInFlight", "True InjectedBindResult"}, recorded.told(s.testEnv, b))
	s.Eventually(func() (bool, error) {
		return s.happened("reader", corev1.EventTypeNormal, "InjectedBindResult"), nil
	})
	s.unbound(b)
	s.Eventually(func() (bool, error) {
		return s.happened("reader", corev1.EventTypeNormal, "UnboundSuccessfully"), nil
	})
}

// The broker is told who asked for the credentials, also when they are removed.
func TestBindingIdentity(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t)
	alice, err := client.New(s.RESTConfigFor("alice", "system:masters", "readers"), client.Options{Scheme: s.Client().Scheme()})
	require.NoError(t, err)
	b := s.reader()
	require.NoError(t, alice.Create(t.Context(), b))
	s.Ready(b)
	s.unbound(b)
	for _, verb := range []osbtest.Verb{osbtest.Bind, osbtest.Unbind} {
		identity := s.last(verb).Identity
		require.NotNil(t, identity, verb)
		assert.Equal(t, "kubernetes", identity.Platform)
		assert.Equal(t, "alice", identity.Value["username"], verb)
		assert.Contains(t, identity.Value["groups"], "readers")
		for _, key := range []string{"uid", "extra"} {
			assert.Contains(t, identity.Value, key, "P03: empty, but there")
		}
	}
}

// What is in Secrets is nowhere else: credentials that the broker gave, and parameters
// that it repeats when it refuses them.
func TestBindingTellsNoSecret(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t, giving(object{"password": "canary-credential", "uri": "db://canary-user:canary-credential@h"}))
	secret := s.given(`{"key": "canary-line1\n  canary-line2 \"quoted\"", "pin": 48151623}`)
	s.Create(secret)
	repeats := func(verb osbtest.Verb) osbtest.Fault {
		said, err := json.Marshal(object{"description": fmt.Sprintf("cannot %s with %s, that is %s", verb, secret.Data["parameters"], "canary-line1\n  canary-line2 \"quoted\"")})
		require.NoError(t, err)
		return osbtest.Status(500, string(said))
	}
	s.broker.Next(osbtest.Bind, repeats(osbtest.Bind), osbtest.CutMiddle())
	recorded := s.recordBinding("reader")
	b := s.bound(func(b *api.ServiceBinding) {
		b.Spec.ParametersFrom = []api.ParametersFromSource{{SecretKeyRef: &api.SecretKeyReference{Name: "given", Key: "parameters"}}}
	})
	s.Eventually(func() (bool, error) { return s.happened("reader", corev1.EventTypeWarning, bindRefused), nil })
	versions := recorded.until(s.testEnv, b)
	s.broker.Next(osbtest.Unbind, repeats(osbtest.Unbind))
	s.Delete(b)
	s.Gone(b)

	for _, kept := range []any{versions, s.happenings("reader")} {
		text, err := json.Marshal(kept)
		require.NoError(t, err)
		assert.Contains(t, string(text), "BindCallFailed")
		s.noCanary("stored", string(text))
	}
	log, err := os.ReadFile(s.Controller().Log())
	require.NoError(t, err)
	assert.Contains(t, string(log), string(b.UID), "the failures are logged")
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, string(b.UID)) || strings.Contains(line, s.Namespace) {
			s.noCanary("logged", line)
		}
	}
}

func (e *testEnv) noCanary(where, text string) {
	e.Helper()
	for _, canary := range []string{"canary-", "48151623"} {
		if at := strings.Index(text, canary); at >= 0 {
			assert.Fail(e, "a secret is "+where, "%s", text[max(at-200, 0):min(at+80, len(text))])
		}
	}
}

// The controller writes a binding twice: that the broker may have been asked, and what
// came of it. To let it go costs an intent and the finalizer. Reading again costs nothing.
func TestBindingIsWrittenTwice(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t)
	recorded := s.recordBinding("reader")
	b := s.bound()
	assert.Len(t, recorded.until(s.testEnv, b), 1+2, "created, intended, bound")
	secret := s.secretOf(b)
	s.Delete(secret)
	s.Eventually(func() (bool, error) { return !s.Absent(s.Secret("reader")), nil })
	s.Ready(b)
	s.called(osbtest.Bind, 2)
	before := len(recorded.until(s.testEnv, b))
	s.unbound(b)
	s.Eventually(func() (bool, error) { return recorded.count() >= before+3, nil })
	assert.Equal(t, before+3, recorded.count(), "deleted, intended, let go")
}
