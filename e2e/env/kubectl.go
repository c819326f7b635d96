package env

import (
	"strings"

	"github.com/stretchr/testify/require"
)

// Kubectl runs kubectl in the namespace, as the administrator, and returns what it
// printed to both outputs, standard output first. It must exit with 0.
func (e *Env) Kubectl(stdin string, args ...string) string {
	e.Helper()
	stdout, stderr, err := e.Stack.Kubectl(e.Context(), stdin, e.inNamespace(args)...)
	require.NoError(e, err, "%s%s", stdout, stderr)
	return stdout + stderr
}

// KubectlFails is Kubectl for what must not exit with 0; it returns what was printed to
// standard error.
func (e *Env) KubectlFails(stdin string, args ...string) string {
	e.Helper()
	stdout, stderr, err := e.Stack.Kubectl(e.Context(), stdin, e.inNamespace(args)...)
	require.Error(e, err, "kubectl %v: %s%s", args, stdout, stderr)
	return stderr
}

// Apply applies a manifest with kubectl, in the namespace where its objects name none. In
// it, SUFFIX stands for what makes names unique.
func (e *Env) Apply(manifest string) {
	e.Helper()
	e.Kubectl(strings.ReplaceAll(manifest, "SUFFIX", e.Suffix), "apply", "-f", "-")
}

func (e *Env) inNamespace(args []string) []string {
	return append([]string{"-n", e.Namespace}, args...)
}
