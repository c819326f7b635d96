package svcat_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack"
)

// A testEnv is an environment in which svcat is run.
type testEnv struct{ *env.Env }

func newEnv(t *testing.T) *testEnv {
	t.Helper()
	return &testEnv{env.New(t)}
}

func newEnvOn(t *testing.T, s *stack.Stack) *testEnv {
	t.Helper()
	return &testEnv{env.On(t, s)}
}

// An outcome is what one run of a command printed, and its exit code.
type outcome struct {
	out, err string
	code     int
}

// run runs svcat with the kubeconfig of the stack's administrator. It adds no
// flag: the current namespace is "default" unless -n is among the arguments.
func (e *testEnv) run(stdin string, args ...string) outcome {
	e.Helper()
	return e.runAs(nil, stdin, args...)
}

// runAs is run in another environment, as with another kubeconfig.
func (e *testEnv) runAs(environment []string, stdin string, args ...string) outcome {
	e.Helper()
	got := e.Exec(env.Command{Binary: "svcat", Args: args, Stdin: stdin, Environment: environment})
	return outcome{got.Stdout, env.WithoutWaiting(got.Stderr), got.Code}
}

// volatile are words that differ from run to run.
var volatile = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// moment is a time as svcat writes it.
var moment = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4} \w+`)

// normal is text without what differs from run to run.
func (e *testEnv) normal(text string) string {
	text = strings.NewReplacer("-"+e.Suffix, "", e.Namespace, "NAMESPACE").Replace(text)
	return moment.ReplaceAllString(volatile.ReplaceAllString(text, "UUID"), "TIME")
}

// golden holds text against a golden file, which -update writes.
func (e *testEnv) golden(name, text string) {
	e.Helper()
	file := filepath.Join("testdata", "golden", name+".txt")
	if *update {
		require.NoError(e, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(e, os.WriteFile(file, []byte(text), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(e, err, "run the test with -update")
	assert.Equal(e, string(want), text, "%s: run the test with -update if this is meant", file)
}
