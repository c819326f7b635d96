package defaultplan_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFittingKubectl shows which kubectl of PATH is used in place of one that is built.
func TestFittingKubectl(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason, prints string
		fits           bool
	}{
		"Release":    {"the control plane's own", "Client Version: v1.36.3\nKustomize Version: v5.8.1", true},
		"Patch":      {"messages are those of the minor version", "Client Version: v1.36.0", true},
		"Build":      {"a distribution's", "Client Version: v1.36.2+k3s1\nKustomize Version: v5.8.1", true},
		"Older":      {"its messages differ", "Client Version: v1.35.4", false},
		"Newer":      {"its messages differ", "Client Version: v1.37.0", false},
		"Longer":     {"another number that starts alike", "Client Version: v1.360.1", false},
		"Candidate":  {"not a release", "Client Version: v1.36.0-rc.1", false},
		"Dispatcher": {"it runs a kubectl of its choice", "Client Version: v1.36.3-dispatcher", false},
		"Silent":     {"not a kubectl", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			path := filepath.Join(folder, "kubectl")
			script := "#!/bin/sh\ncat <<'END'\n" + test.prints + "\nEND\n"
			// No process that is forked meanwhile inherits the open file, which could not be run then.
			syscall.ForkLock.RLock()
			err := os.WriteFile(path, []byte(script), 0o700)
			syscall.ForkLock.RUnlock()
			require.NoError(t, err)
			command := exec.CommandContext(t.Context(), "tools/kubectl.sh", "v1.36.3")
			command.Env = []string{"PATH=" + folder + ":/usr/bin:/bin"}
			out, err := command.Output()
			if !test.fits {
				assert.Empty(t, string(out), test.reason)
				assert.Error(t, err, test.reason)
				return
			}
			require.NoError(t, err, test.reason)
			assert.Equal(t, path+"\n", string(out))
		})
	}
}

// TestFirstBuild shows what is said before the build that takes minutes, and only then.
func TestFirstBuild(t *testing.T) {
	t.Parallel()
	makefile, err := filepath.Abs("Makefile")
	require.NoError(t, err)
	folder := t.TempDir()
	said := func() string {
		var stderr strings.Builder
		command := exec.CommandContext(t.Context(), "make", "--no-print-directory", "-f", makefile, "first-build")
		command.Dir, command.Stderr = folder, &stderr
		command.Env = append(os.Environ(), "MAKEFLAGS=") // a make above may have a jobserver
		out, err := command.Output()
		require.NoError(t, err, stderr.String())
		assert.NotContains(t, string(out), "compiling", "it is no output of a program")
		return stderr.String()
	}
	assert.Equal(t, "compiling Kubernetes, about 5 minutes on two cores, once\n", said())
	require.NoError(t, os.Mkdir(filepath.Join(folder, "bin"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "bin", "controlplane"), nil, 0o600))
	assert.Empty(t, said(), "it was compiled before")
}

// TestSlowest shows what make test ends with.
func TestSlowest(t *testing.T) {
	t.Parallel()
	var printed strings.Builder
	for _, line := range []string{
		"ok  \tgithub.com/defaultplan/defaultplan/merge\t8.722s",
		"?   \tgithub.com/defaultplan/defaultplan/e2e/bench\t[no test files]",
		"ok  \tgithub.com/defaultplan/defaultplan/e2e/osb\t304.210s",
		"ok  \tgithub.com/defaultplan/defaultplan/api/v1beta1\t(cached)",
		"ok  \tgithub.com/defaultplan/defaultplan/e2e/empty\t0.004s [no tests to run]",
		"a line of a test",
	} {
		printed.WriteString(line + "\n")
	}
	command := exec.CommandContext(t.Context(), "tools/slowest.sh")
	command.Stdin = strings.NewReader(printed.String())
	out, err := command.Output()
	require.NoError(t, err)
	assert.Equal(t, "the slowest packages, in seconds:\n   304.2  e2e/osb\n     8.7  merge\n     0.0  e2e/empty\n   312.9  all 3 that were not cached\n", string(out))

	command = exec.CommandContext(t.Context(), "tools/slowest.sh")
	command.Stdin = strings.NewReader("ok  \tgithub.com/defaultplan/defaultplan/merge\t(cached)\n")
	out, err = command.Output()
	require.NoError(t, err)
	assert.Empty(t, string(out), "all was cached")
}

// TestVersionOfGo holds what is said of Go to the module that needs the newest.
func TestVersionOfGo(t *testing.T) {
	t.Parallel()
	module, err := os.ReadFile("e2e/controlplane/go.mod")
	require.NoError(t, err)
	version := regexp.MustCompile(`(?m)^go (.*)$`).FindStringSubmatch(string(module))
	require.NotEmpty(t, version)
	for _, name := range []string{"README.md", "CONTRIBUTING.md"} {
		page, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Contains(t, string(page), "Go "+version[1]+" or later", name)
	}
}

// TestVersionsOfKubernetes holds what is said of versions to what the Makefile tests.
func TestVersionsOfKubernetes(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		return string(content)
	}
	page := read("docs/install.md")
	var minors []string
	for _, line := range regexp.MustCompile(`(?m)^(?:K8S_VERSION :|VERSIONS \?)= (.*)$`).FindAllStringSubmatch(read("Makefile"), -1) {
		for version := range strings.FieldsSeq(line[1]) {
			minor := version[1:strings.LastIndex(version, ".")]
			minors = append(minors, minor)
			row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(minor) + ` \| .* ` + regexp.QuoteMeta(version[1:]) + ` \| `)
			assert.True(t, row.MatchString(page), "docs/install.md has no row for %s", version)
		}
	}
	require.Greater(t, len(minors), 1)
	oldest := slices.Min(minors)
	for name, says := range map[string]string{
		"README.md": "Kubernetes " + oldest + " or later", "docs/install.md": "Kubernetes " + oldest + " or later",
		"deploy/charts/defaultplan/Chart.yaml": `kubeVersion: ">=` + oldest + `.0-0"`,
	} {
		assert.True(t, strings.Contains(read(name), says), "%s does not say: %s", name, says) //nolint:testifylint // Contains prints the whole page
	}
}
