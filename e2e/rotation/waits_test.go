package rotation_test

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// rotated waits until a binding has other credentials than those of an ID, and those are
// gone at the broker.
func (e *testEnv) rotated(b *api.ServiceBinding, former string) {
	e.Helper()
	e.Becomes(b, func() bool { return b.Status.ExternalID != former && b.Status.Rotation == nil })
	known := e.broker.Bindings()
	require.Len(e, known, 1, "%v", known)
	require.Contains(e, known, b.Status.ExternalID)
	password, _ := known[b.Status.ExternalID].Credentials["password"].(string)
	assert.Equal(e, password, string(e.SecretOf(b).Data["password"]))
}

// unbound deletes a binding, of which nothing stays.
func (e *testEnv) unbound(b *api.ServiceBinding) {
	e.Helper()
	e.Delete(b)
	e.Gone(b)
	assert.Empty(e, e.broker.Bindings())
}
