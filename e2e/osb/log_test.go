package osb_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// An operation is a line of the controller's log about one that ended.
type operation struct {
	Message    string `json:"msg"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	Operation  string `json:"operation"`
	Outcome    string `json:"outcome"`
	Broker     string `json:"broker"`
	ExternalID string `json:"externalID"`
	RequestID  string `json:"requestID"`
	Took       string `json:"took"`
}

// operations are the lines about the environment's namespace, in their order.
func (e *testEnv) operations() []operation {
	e.Helper()
	file, err := os.Open(e.Controller().Log())
	require.NoError(e, err)
	defer func() { require.NoError(e, file.Close()) }()
	var found []operation
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line operation
		// What is being written, and what is no JSON, is none.
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Namespace == e.Namespace && strings.HasPrefix(line.Message, "the operation ") {
			found = append(found, line)
		}
	}
	require.NoError(e, lines.Err())
	return found
}

// Each operation of an instance and its binding that ends is one line, with what finds it at the
// broker, and without parameters.
func TestEachOperationIsLoggedOnce(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t)
	i := s.instance
	const canary = "value-of-a-parameter"
	s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": "` + canary + `"}`) })
	s.Ready(i)
	b := s.bound()
	binding := b.Spec.ExternalID
	s.Delete(b)
	s.Gone(b)
	s.end(i)

	want := []struct {
		verb          osbtest.Verb
		name, id      string
		says, outcome string
	}{
		{osbtest.Provision, "mydb", i.Spec.ExternalID, "provision", "ProvisionedSuccessfully"},
		{osbtest.Update, "mydb", i.Spec.ExternalID, "update", "InstanceUpdatedSuccessfully"},
		{osbtest.Bind, "reader", binding, "bind", "InjectedBindResult"},
		{osbtest.Unbind, "reader", binding, "unbind", "UnboundSuccessfully"},
		{osbtest.Deprovision, "mydb", i.Spec.ExternalID, "deprovision", "DeprovisionedSuccessfully"},
	}
	// A line may be written after the object has gone.
	var got []operation
	s.Eventually(func() (bool, error) {
		got = s.operations()
		return len(got) >= len(want), nil
	})
	require.Len(t, got, len(want), "%+v", got)
	log, err := os.ReadFile(s.Controller().Log())
	require.NoError(t, err)
	assert.NotContains(t, string(log), canary)
	for i, line := range got {
		calls := s.broker.Calls(osbtest.Of(want[i].verb))
		require.Len(t, calls, 1)
		assert.NotEmpty(t, line.Took)
		line.Took = ""
		assert.Equal(t, operation{
			"the operation ended", s.Namespace, want[i].name, want[i].says, want[i].outcome, "ClusterServiceBroker " + s.registered.Name, want[i].id, calls[0].RequestID, "",
		}, line)
	}
}
