package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// volatile are words that differ from run to run.
var volatile = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// age is how long ago, as kubectl writes it.
var age = regexp.MustCompile(`^([0-9]+[dhms])+$`)

// normal is text without the world's own names: of objects only what the
// scenario calls them is left.
func (w *world) normal(text string) string {
	text = strings.NewReplacer("-"+w.suffix, "", w.namespace, "NAMESPACE").Replace(text)
	return volatile.ReplaceAllString(text, "UUID")
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
