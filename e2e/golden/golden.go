// Package golden compares what a test saw with a file in testdata/golden of the test's
// package. The flag -update writes these files.
package golden

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/env"
)

// Match requires that text is that of a golden file.
func Match(e *env.Env, name, text string) {
	e.Helper()
	file := filepath.Join("testdata", "golden", name+".txt")
	if *update {
		require.False(e, e.KubernetesBefore(showsValues), "golden files are written with the Kubernetes of the module")
		require.NoError(e, os.MkdirAll(filepath.Dir(file), 0o755))  //nolint:gosec // a folder of the repository, which others read
		require.NoError(e, os.WriteFile(file, []byte(text), 0o644)) //nolint:gosec // a file of the repository, which others read
	}
	content, err := os.ReadFile(file)
	require.NoError(e, err, "run the test with -update")
	want := string(content)
	if e.KubernetesBefore(showsValues) {
		want, text = invalidValue.ReplaceAllString(want, "$1"), invalidValue.ReplaceAllString(text, "$1")
	}
	assert.Equal(e, want, text, "%s: run the test with -update if this is meant", file)
}

// showsValues is the minor version of Kubernetes from which on the API server shows the
// value that a rule of a schema refuses, and leaves it out if it is an object. Before,
// it shows the type, as in: Invalid value: "object": externalID cannot be changed.
const showsValues = 35

// invalidValue is what the API server writes before the message of a rule.
var invalidValue = regexp.MustCompile(`(Invalid value: )(?:(?:"(?:[^"\\]|\\.)*"|null|true|false|-?[0-9.]+): )?`)

// MatchAll is Match for several texts in one file, in the order of their names.
func MatchAll(e *env.Env, file string, texts map[string]string) {
	e.Helper()
	if e.Failed() {
		return
	}
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(&all, "# %s\n%s\n\n", name, strings.TrimSpace(texts[name]))
	}
	Match(e, file, all.String())
}

// update is the flag that has the files written.
var update = flag.Bool("update", false, "write the golden files")

// Denial has kubectl apply a manifest, which must be denied, and requires that what it
// prints is that of a golden file. It returns what was printed.
func Denial(e *env.Env, name, kind, spec string) string {
	e.Helper()
	stderr := e.KubectlFails(e.ManifestOf(kind, "mydb", spec), "apply", "-f", "-")
	// Either webhook may learn of a policy first.
	shown := strings.ReplaceAll(e.Normal(stderr), `webhook "mutate.`, `webhook "validate.`)
	Match(e, "refused/"+name, "# spec: "+spec+"\n$ kubectl apply -f -\n"+shown)
	return stderr
}
