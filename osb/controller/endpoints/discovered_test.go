package endpoints

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/expose"
)

// What no host or port can be is not copied, however often a spec names it.
func TestMappedIsBounded(t *testing.T) {
	t.Parallel()
	from := []v1beta1.EndpointFrom{{HostKey: "host", PortKey: "port"}}
	given := func(host string) *osb.Binding {
		text, err := json.Marshal(host)
		require.NoError(t, err)
		return &osb.Binding{Credentials: map[string]json.RawMessage{"host": text, "port": json.RawMessage(`5432`)}}
	}
	found, refusal := mapped(from, given("db.example.com"))
	require.Nil(t, refusal)
	assert.Equal(t, []expose.Endpoint{{Host: "db.example.com", Ports: []string{"5432"}, Quiet: `the credential "host"`}}, found.Endpoints)

	long := given(strings.Repeat("secret", 1000))
	_, refusal = mapped(from, long)
	require.NotNil(t, refusal)
	assert.Equal(t, expose.ReasonUnlawful, refusal.Reason)
	assert.NotContains(t, refusal.Message, "secretsecret")
}
