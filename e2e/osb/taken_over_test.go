package osb_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/retry"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// ofRetired makes status what the retired catalog would have stored: no ID, no target of our
// broker calls, and its own sum of parameters.
func ofRetired(t *testing.T, status *api.ServiceInstanceStatus, parameters string) {
	t.Helper()
	decoded := map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(parameters), &decoded))
	text, err := json.Marshal(decoded)
	require.NoError(t, err)
	sum := sha256.Sum256(text)
	status.ExternalID = ""
	for _, sent := range []*api.ServiceInstancePropertiesState{status.ExternalProperties, status.InProgressProperties} {
		if sent != nil {
			sent.BrokerTarget, sent.ContextChecksum, sent.MaintenanceVersion = api.BrokerTarget{}, "", ""
			sent.ParameterChecksum = hex.EncodeToString(sum[:])
		}
	}
}

// An instance that the retired catalog provisioned is not updated because its sum of the same
// parameters is another, nor held to the schema of updates; a change is.
func TestParametersOfTheRetiredCatalogAreNoChange(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t, func(s *setting) {
		s.small["schemas"] = object{"service_instance": object{"update": object{"parameters": object{
			"$schema": "http://json-schema.org/draft-07/schema#", "not": object{"required": []string{"url"}},
		}}}}
	})
	const own, secret = `{"url": "a&b<c>", "size": 9007199254740993}`, `{"ratio": 1.0, "burst": 1e3}`
	s.holds("extra", secret)
	i := s.provisioned(having(own), from("extra"))
	ofRetired(t, &i.Status, `{"url": "a&b<c>", "size": 9007199254740993, "ratio": 1.0, "burst": 1e3}`)
	require.NoError(t, s.Client().Status().Update(t.Context(), i))
	s.Change(i, func() { i.Spec.UpdateRequests++ })
	s.Ready(i)
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Update)), "nothing changed")
	assert.Equal(t, i.Generation, i.Status.ReconciledGeneration)

	s.holds("extra", `{"ratio": 2.0, "burst": 1e3}`)
	s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 9007199254740993}`) })
	s.Ready(i)
	assert.Equal(t, 2.0, s.last(osbtest.Update).Body["parameters"].(object)["ratio"]) //nolint:testifylint // as sent
	s.end(i)
}

// An operation that the retired catalog began is polled by the ID in spec.
func TestOperationOfTheRetiredCatalogIsPolled(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	s.broker.Next(osbtest.Provision, osbtest.AsyncDone(5))
	i := s.db(having(`{"a": 1}`))
	s.Create(i)
	s.called(osbtest.PollInstance, 1)
	require.NoError(t, retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		s.Get(i)
		require.True(t, i.Status.AsyncOpInProgress)
		ofRetired(t, &i.Status, `{"a": 1}`)
		return s.Client().Status().Update(t.Context(), i)
	}))
	s.Ready(i)
	assert.Equal(t, i.Spec.ExternalID, i.Status.ExternalID)
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Update)))
	s.end(i)
}
