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
// version that go.mod says. With another, most packages would be compiled a second time, and the scenarios
// would run with libraries that the programs do not have.
func TestWorkspaceVersions(t *testing.T) {
	t.Parallel()
	workspace, err := filepath.Abs("e2e/scenarios.work")
	require.NoError(t, err)
	arguments := []string{"list", "-m", "-f", "{{.Path}} {{.Version}}"}
	required := versionsOf(t, ".")
	for path := range required {
		arguments = append(arguments, path)
	}
	list := exec.CommandContext(t.Context(), "go", arguments...)
	list.Env = append(list.Environ(), "GOWORK="+workspace)
	var problem strings.Builder
	list.Stderr = &problem
	output, err := list.Output()
	require.NoError(t, err, problem.String())
	selected := map[string]string{}
	for line := range strings.Lines(string(output)) {
		path, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		selected[path] = version
	}
	assert.Equal(t, required, selected, "another module of the workspace needs a newer version: give it to the main module by go get")
}

// TestVersionsOutsideTheWorkspace holds those modules to the main module's versions whose own versions decide:
// the tools, which no workspace has, and the scenarios, whose go.mod would otherwise say something else.
func TestVersionsOutsideTheWorkspace(t *testing.T) {
	t.Parallel()
	versions := versionsOf(t, ".")
	for folder, except := range map[string]string{
		"e2e/charts": "",
		"e2e/ui":     "",
		"tools":      "",
		// It does not compile with the main module's.
		"tools/promtool": "github.com/prometheus/client_golang",
	} {
		same := 0
		for path, version := range versionsOf(t, folder) {
			if wanted, is := versions[path]; is && path != except {
				assert.Equal(t, wanted, version, "%s in %s", path, folder)
				same++
			}
		}
		assert.Greater(t, same, 20, folder)
	}
}

// versionsOf are the versions that a go.mod requires, by module.
func versionsOf(t *testing.T, folder string) map[string]string {
	t.Helper()
	versions := map[string]string{}
	for _, required := range readModule(t, folder).Require {
		versions[required.Path] = required.Version
	}
	return versions
}
