package test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// release is what the control plane is built from, and minor what kubectl is of: hooks and printers of other
// minor versions behave otherwise. kubectl may be that of PATH.
const (
	release = "v1.36.3"
	minor   = "v1.36."
)

func TestKubectlIsOfTheSameMinorVersion(t *testing.T) {
	t.Parallel()
	got := struct {
		ClientVersion, ServerVersion struct{ GitVersion string }
	}{}
	require.NoError(t, json.Unmarshal(kubectl(t, "version", "-o", "json"), &got))
	assert.True(t, strings.HasPrefix(got.ClientVersion.GitVersion, minor), got.ClientVersion.GitVersion)
	assert.Equal(t, release, got.ServerVersion.GitVersion)
}

func TestKubectlGetsATokenAndTheRolesOfTheUser(t *testing.T) {
	t.Parallel()
	assert.NotEmpty(t, kubectl(t, "create", "token", "default"))
	assert.Equal(t, "yes\n", string(kubectl(t, "auth", "can-i", "*", "*")))
}

// kubectl runs the binary that is built beside ours on the shared control plane.
func kubectl(t *testing.T, args ...string) []byte {
	t.Helper()
	path := filepath.Join(filepath.Dir(binary()), "kubectl")
	_, err := os.Stat(path)
	require.NoError(t, err, "run make build")
	cmd := exec.CommandContext(t.Context(), path, append([]string{"--kubeconfig", filepath.Join(useShared(t).dir, "kubeconfig")}, args...)...)
	output, err := cmd.Output()
	require.NoError(t, err)
	return output
}
