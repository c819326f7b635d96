package svcat_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestKubectlTakesSvcatAsPlugin: svcat installs itself; then kubectl runs it, and
// completes it.
func TestKubectlTakesSvcatAsPlugin(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.Apply(words)
	folder := t.TempDir()
	for range 2 { // again is as well
		got := e.run("", "install", "plugin", "--plugins-path", folder)
		require.Zero(t, got.code, got.err)
		assert.Equal(t, "installed kubectl-svcat and kubectl_complete-svcat to "+folder+": try kubectl svcat version --client\n", got.out)
		assert.Contains(t, got.err, "warning: "+folder+" is not in the PATH")
	}
	kubectl := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), e.Binary("kubectl"), args...)
		cmd.Env = withPath(e.here(), folder)
		out, err := cmd.Output()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	assert.Contains(t, kubectl("svcat", "get", "classes"), "local-"+e.Suffix)
	for _, of := range [][]string{{"--class", "kv-" + e.Suffix, "la"}, {""}} {
		// On a busy machine there is no time for an answer: a shell does not wait long.
		e.Eventually(func() (bool, error) {
			got := kubectl(append([]string{"__complete", "svcat", "get", "plans"}, of...)...)
			if !strings.Contains(got, "large-"+e.Suffix+"\tA large one\n") {
				return false, errors.New(got)
			}
			return true, nil
		})
	}
	help := kubectl("svcat", "get", "plans", "--help")
	assert.Contains(t, help, "  kubectl svcat get plans")
	assert.NotContains(t, strings.ReplaceAll(help, "kubectl svcat", ""), "svcat get plans", "everything is called as kubectl calls it")
}

// TestPluginBesideItself: without a folder, svcat makes the plugin where it is; called
// by the plugin's name, it leaves itself as it is.
func TestPluginBesideItself(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	folder := t.TempDir()
	content, err := exec.CommandContext(t.Context(), "cp", "-L", e.Binary("svcat"), filepath.Join(folder, "svcat")).CombinedOutput()
	require.NoError(t, err, "%s", content)
	for _, called := range []string{"svcat", "kubectl-svcat"} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(folder, called), "install", "plugin")
		cmd.Env = withPath(e.Environment(), folder)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Equal(t, "installed kubectl-svcat and kubectl_complete-svcat to "+folder+": try kubectl svcat version --client\n", string(out))
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(folder, "kubectl-svcat"), "version", "--client").Output()
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(out), "Client Version: "), "%s", out)
}

// withPath is an environment with a folder first in the PATH.
func withPath(environment []string, folder string) []string {
	changed := make([]string, len(environment))
	for i, variable := range environment {
		if path, is := strings.CutPrefix(variable, "PATH="); is {
			variable = "PATH=" + folder + ":" + path
		}
		changed[i] = variable
	}
	return changed
}
