package svcat_test

import (
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
	w := newWorld(t)
	w.apply(words)
	folder := t.TempDir()
	for range 2 { // again is as well
		got := w.run("", "install", "plugin", "--plugins-path", folder)
		require.Zero(t, got.code, got.err)
		assert.Equal(t, "installed kubectl-svcat and kubectl_complete-svcat to "+folder+": try kubectl svcat version --client\n", got.out)
		assert.Contains(t, got.err, "warning: "+folder+" is not in the PATH")
	}
	kubectl := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), filepath.Join(binFolder, "kubectl"), args...)
		cmd.Env = withPath(w.here(), folder)
		out, err := cmd.Output()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	assert.Contains(t, kubectl("svcat", "get", "classes"), "local-"+w.suffix)
	assert.Contains(t, kubectl("__complete", "svcat", "get", "plans", "--class", "kv-"+w.suffix, "la"), "large-"+w.suffix+"\tA large one\n")
	assert.Contains(t, kubectl("__complete", "svcat", "get", "plans", ""), "large-"+w.suffix+"\tA large one\n")
	help := kubectl("svcat", "get", "plans", "--help")
	assert.Contains(t, help, "  kubectl svcat get plans")
	assert.NotContains(t, strings.ReplaceAll(help, "kubectl svcat", ""), "svcat get plans", "everything is called as kubectl calls it")
}

// TestPluginBesideItself: without a folder, svcat makes the plugin where it is; called
// by the plugin's name, it leaves itself as it is.
func TestPluginBesideItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	folder := t.TempDir()
	content, err := exec.CommandContext(t.Context(), "cp", "-L", filepath.Join(binFolder, "svcat"), filepath.Join(folder, "svcat")).CombinedOutput()
	require.NoError(t, err, "%s", content)
	for _, called := range []string{"svcat", "kubectl-svcat"} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(folder, called), "install", "plugin")
		cmd.Env = withPath(w.Environment(), folder)
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
