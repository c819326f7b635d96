package defaultplan_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWorkspaceVersions: in the workspace of the scenarios a dependency of the main module has the
// version that go.mod says. Otherwise most packages are compiled twice.
func TestWorkspaceVersions(t *testing.T) {
	t.Parallel()
	workspace, err := filepath.Abs("e2e/scenarios.work")
	require.NoError(t, err)
	list := []string{"list", "-m", "-f", "{{.Path}} {{.Version}}"}
	required := map[string]string{}
	for _, module := range readModule(t, ".").Require {
		required[module.Path] = module.Version
		list = append(list, module.Path)
	}
	command := exec.CommandContext(t.Context(), "go", list...)
	command.Env = append(command.Environ(), "GOWORK="+workspace)
	output, err := command.Output()
	require.NoError(t, err)
	selected := map[string]string{}
	for line := range strings.Lines(string(output)) {
		path, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		selected[path] = version
	}
	assert.Equal(t, required, selected, "another module of the workspace needs a newer version: give it to the main module by go get")
}
