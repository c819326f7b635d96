package svcat_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// A world is a corner of a stack that belongs to one test: a namespace, and names
// that no other test has. Its methods fail the test.
type world struct {
	*testing.T
	*stack.Stack

	namespace, suffix string
	client            client.WithWatch
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOn(t, shared)
}

func newWorldOn(t *testing.T, s *stack.Stack) *world {
	t.Helper()
	w := &world{T: t, Stack: s, suffix: strings.ToLower(rand.Text()[:8]), client: s.Client()}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "story-"}}
	require.NoError(w, w.client.Create(w.Context(), namespace))
	w.namespace = namespace.Name
	return w
}

// name makes a name unique: for what is cluster-scoped.
func (w *world) name(base string) string { return base + "-" + w.suffix }

// apply creates the objects of a manifest with kubectl, in the world's namespace
// where they name none. In it, SUFFIX stands for what makes names unique.
func (w *world) apply(manifest string) {
	w.Helper()
	stdout, stderr, err := w.Kubectl(w.Context(), strings.ReplaceAll(manifest, "SUFFIX", w.suffix), "-n", w.namespace, "apply", "-f", "-")
	require.NoError(w, err, "%s%s", stdout, stderr)
}

// get reads object anew from the API server.
func (w *world) get(object client.Object) {
	w.Helper()
	require.NoError(w, w.client.Get(w.Context(), client.ObjectKeyFromObject(object), object))
}

// eventually polls until the condition is true; an error says why not yet.
func (w *world) eventually(is func() (bool, error)) {
	w.Helper()
	require.NoError(w, stack.Eventually(w.Context(), is))
}

// An outcome is what one run of a command printed, and its exit code.
type outcome struct {
	out, err string
	code     int
}

// run runs svcat with the kubeconfig of the stack's administrator. It adds no
// flag: the current namespace is "default" unless -n is among the arguments.
func (w *world) run(stdin string, args ...string) outcome {
	w.Helper()
	return w.runAs(w.Environment(), stdin, args...)
}

// runAs is run in another environment, as with another kubeconfig.
func (w *world) runAs(environment []string, stdin string, args ...string) outcome {
	w.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(w.Context(), filepath.Join(binFolder, "svcat"), args...)
	cmd.Env = environment
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil {
		require.True(w, ok, "svcat %v: %v", args, err)
		return outcome{out.String(), errs.String(), exit.ExitCode()}
	}
	return outcome{out.String(), errs.String(), 0}
}

// svcat runs svcat in the world's namespace; it must exit with 0. It returns what
// was printed to both outputs, standard output first.
func (w *world) svcat(args ...string) string {
	w.Helper()
	got := w.run("", append([]string{"-n", w.namespace}, args...)...)
	require.Zero(w, got.code, "svcat %v: %s%s", args, got.out, got.err)
	return got.out + got.err
}

// svcatFails is svcat for what must exit with a code; it returns what was printed
// to standard error.
func (w *world) svcatFails(code int, args ...string) string {
	w.Helper()
	got := w.run("", append([]string{"-n", w.namespace}, args...)...)
	require.Equal(w, code, got.code, "svcat %v: %s%s", args, got.out, got.err)
	return got.err
}

// volatile are words that differ from run to run.
var volatile = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// moment is a time as svcat writes it.
var moment = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4} \w+`)

// normal is text without what differs from run to run.
func (w *world) normal(text string) string {
	text = strings.NewReplacer("-"+w.suffix, "", w.namespace, "NAMESPACE").Replace(text)
	return moment.ReplaceAllString(volatile.ReplaceAllString(text, "UUID"), "TIME")
}

// golden holds text against a golden file, which -update writes.
func (w *world) golden(name, text string) {
	w.Helper()
	file := filepath.Join("testdata", "golden", name+".txt")
	if *update {
		require.NoError(w, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(w, os.WriteFile(file, []byte(text), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(w, err, "run the test with -update")
	assert.Equal(w, string(want), text, "%s: run the test with -update if this is meant", file)
}
