package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tinyFiles are a project with the places that ours has, and little in them.
var tinyFiles = map[string]string{
	"go.mod":                          "module github.com/defaultplan/defaultplan\n\ngo 1.26.0\n",
	"cmd/internal/version/version.go": "package version\n\nvar version string\n\nfunc String() string { return version }\n",
	"cmd/webhook/main.go": `package main

import (
	"os"

	"github.com/defaultplan/defaultplan/cmd/internal/version"
)

func main() { os.Stdout.WriteString(version.String() + "\n") }
`,
}

// tiny writes the project into a new folder.
func tiny(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, content := range tinyFiles {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	return root
}

// planOf is a plan of its program for both processors.
func planOf(root, out string) *plan {
	return &plan{
		root: root, out: out, programs: []string{"webhook"}, platforms: []string{"amd64", "arm64"},
		source: source{version: "v1.2.3+x", revision: "0123", created: time.Unix(1_700_000_000, 0).UTC()},
	}
}

func mustBuild(t *testing.T, p *plan) []made {
	t.Helper()
	all, err := build(context.WithoutCancel(t.Context()), p)
	require.NoError(t, err)
	return all
}
