package ui_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/env"
)

// A testEnv is an environment whose users look at its namespace in a browser.
type testEnv struct{ *env.Env }

func newEnv(t *testing.T) *testEnv {
	t.Helper()
	return &testEnv{env.New(t)}
}

// serve starts svcat ui with a kubeconfig and flags, and returns the address that it prints. At
// the test's end it is interrupted, and must end well.
func (e *testEnv) serve(kubeconfig string, flags ...string) string {
	e.Helper()
	args := append([]string{"ui", "-n", e.Namespace, "--kubeconfig", kubeconfig}, flags...)
	cmd := exec.CommandContext(context.WithoutCancel(e.Context()), e.Binary("svcat"), args...)
	cmd.Env = e.Environment()
	// A file, because it is read while svcat may write.
	told, err := os.CreateTemp(e.TempDir(), "stderr-*")
	require.NoError(e, err)
	cmd.Stderr = told
	said := func() string {
		content, _ := os.ReadFile(told.Name())
		return string(content)
	}
	out, err := cmd.StdoutPipe()
	require.NoError(e, err)
	require.NoError(e, cmd.Start())
	e.Cleanup(func() {
		require.NoError(e, cmd.Process.Signal(syscall.SIGINT))
		require.NoError(e, cmd.Wait(), "Ctrl-C is how it ends: %s", said())
		require.NoError(e, told.Close())
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(e, err, said())
	return strings.TrimSpace(address)
}

// user is the kubeconfig of a user without any permission, and the user's name.
func (e *testEnv) user() (kubeconfig, name string) {
	e.Helper()
	name = e.Name("shopper")
	kubeconfig, err := e.KubeconfigFor(e.Context(), name)
	require.NoError(e, err)
	return kubeconfig, name
}

// allow runs a command that a page shows, as the administrator.
func (e *testEnv) allow(command string) {
	e.Helper()
	words := strings.Fields(command)
	require.Equal(e, "kubectl", words[0])
	e.Kubectl("", words[1:]...)
}
