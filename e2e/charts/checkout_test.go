package charts_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The first commands of docs/charts.md work as they stand there, in a checkout in which
// nothing was built.
func TestFirstCommandsInACheckout(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	document, err := os.ReadFile(filepath.Join("..", "..", "docs", "charts.md"))
	require.NoError(t, err)
	_, block, _ := strings.Cut(string(document), "\n\n    ")
	block, _, _ = strings.Cut(block, "\n\n")
	checkout := e.TempDir()
	for _, source := range []string{"servicecatalog-lib", "examples/wordpress/Chart.yaml", "examples/wordpress/values.yaml", "examples/wordpress/values.schema.json", "examples/wordpress/templates"} {
		e.copies(filepath.Join("..", "..", "deploy", "charts", source), filepath.Join(checkout, "deploy", "charts", source))
	}
	folder, installed := checkout, 0
	for line := range strings.Lines(block) {
		words := strings.Fields(line)
		switch words[0] {
		case "cd":
			folder = filepath.Join(checkout, words[1])
		case "helm":
			for at, word := range words {
				if word == "wordpress" {
					words[at] = filepath.Join(folder, word)
				}
			}
			if words[1] == "install" {
				words = append(words, "--dry-run=client")
				installed++
			}
			e.must("helm", words[1:]...)
		default:
			require.Fail(t, "this test knows cd and helm only", line)
		}
	}
	assert.Equal(t, 2, installed)
}

// copies copies a file or a folder.
func (e *testEnv) copies(from, to string) {
	e.Helper()
	is, err := os.Stat(from)
	require.NoError(e, err)
	if is.IsDir() {
		require.NoError(e, os.CopyFS(to, os.DirFS(from)))
		return
	}
	content, err := os.ReadFile(from)
	require.NoError(e, err)
	require.NoError(e, os.MkdirAll(filepath.Dir(to), 0o700))
	require.NoError(e, os.WriteFile(to, content, 0o600))
}
