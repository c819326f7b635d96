package audit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSince counts what is behind the offset, and no line that is not finished.
func TestSince(t *testing.T) {
	t.Parallel()
	const user = `"user":{"username":"system:serviceaccount:defaultplan-system:defaultplan-keeper"}`
	before := `{"verb":"get","objectRef":{"resource":"leases"},` + user + "}\n"
	log := filepath.Join(t.TempDir(), "audit.log")
	require.NoError(t, os.WriteFile(log, []byte(before+before+before+
		`{"verb":"patch","objectRef":{"resource":"serviceinstances","subresource":"status"},`+user+"}\n"+
		`{"verb":"update","objectRef":{"resource":"leases"},`+user+"}\n"+
		`{"verb":"create","objectRef":{"resource":"tokenreviews"},`+user+"}\n"+
		`{"verb":"patch","obj`), 0o600))
	requests, err := Since(log, int64(len(before)))
	require.NoError(t, err)
	assert.InDelta(t, 5, requests.Count(All), 0)
	assert.InDelta(t, 1, requests.Count(Key.Stores), 0, "Leases and reviews do not count")
	assert.Equal(t, "keeper get leases 1.00/s, keeper create tokenreviews 0.50/s, keeper patch serviceinstances/status 0.50/s, keeper update leases 0.50/s", requests.Per(2))
}
