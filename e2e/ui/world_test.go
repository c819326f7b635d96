package ui_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// A world is a corner of the stack that belongs to one test: a namespace, and names
// that no other test has. Its methods fail the test.
type world struct {
	*testing.T
	*stack.Stack

	namespace, suffix string
	client            client.WithWatch
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, Stack: shared, suffix: strings.ToLower(rand.Text()[:8]), client: shared.Client()}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "ui-"}}
	require.NoError(w, w.client.Create(w.Context(), namespace))
	w.namespace = namespace.Name
	return w
}

// name makes a name unique: for what is cluster-scoped.
func (w *world) name(base string) string { return base + "-" + w.suffix }

// apply creates the objects of a manifest with kubectl, in the world's namespace where
// they name none. In it, SUFFIX stands for what makes names unique.
func (w *world) apply(manifest string) {
	w.Helper()
	stdout, stderr, err := w.Kubectl(w.Context(), strings.ReplaceAll(manifest, "SUFFIX", w.suffix), "-n", w.namespace, "apply", "-f", "-")
	require.NoError(w, err, "%s%s", stdout, stderr)
}

// serve starts svcat ui with a kubeconfig, and returns the address that it prints. At
// the test's end it is interrupted, and must end well.
func (w *world) serve(kubeconfig string) string {
	w.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(w.Context()), filepath.Join(binFolder, "svcat"), "ui", "-n", w.namespace, "--kubeconfig", kubeconfig)
	cmd.Env = w.Environment()
	// A file, because it is read while svcat may write.
	told, err := os.Create(filepath.Join(w.TempDir(), "stderr"))
	require.NoError(w, err)
	cmd.Stderr = told
	said := func() string {
		content, _ := os.ReadFile(told.Name())
		return string(content)
	}
	out, err := cmd.StdoutPipe()
	require.NoError(w, err)
	require.NoError(w, cmd.Start())
	w.Cleanup(func() {
		require.NoError(w, cmd.Process.Signal(syscall.SIGINT))
		require.NoError(w, cmd.Wait(), "Ctrl-C is how it ends: %s", said())
		require.NoError(w, told.Close())
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(w, err, said())
	return strings.TrimSpace(address)
}

// user is a kubeconfig of somebody without any right, and his name.
func (w *world) user() (kubeconfig, name string) {
	w.Helper()
	name = "shopper-" + w.suffix
	kubeconfig, err := w.KubeconfigFor(w.Context(), name)
	require.NoError(w, err)
	return kubeconfig, name
}

// allow runs a command that a page shows, as the administrator.
func (w *world) allow(command string) {
	w.Helper()
	words := strings.Fields(command)
	require.Equal(w, "kubectl", words[0])
	stdout, stderr, err := w.Kubectl(w.Context(), "", words[1:]...)
	require.NoError(w, err, "%s%s", stdout, stderr)
}

// svcat is what svcat prints in the world's namespace.
func (w *world) svcat(args ...string) string {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), filepath.Join(binFolder, "svcat"), append([]string{"-n", w.namespace}, args...)...)
	cmd.Env = w.Environment()
	out, err := cmd.Output()
	require.NoError(w, err)
	return string(out)
}
