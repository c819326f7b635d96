package suite

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A binary may be another's: a flag says which, and goes before the environment.
func TestBinariesAreGivenByFlag(t *testing.T) {
	from := t.TempDir()
	for _, name := range []string{"controller", "webhook", "another", "third"} {
		require.NoError(t, os.WriteFile(filepath.Join(from, name), nil, 0o600))
	}
	t.Setenv("DEFAULTPLAN_BIN", from)
	for name, tc := range map[string]struct {
		reason, env string
		args        []string
		controller  string
	}{
		"Built":       {reason: "as it was built", controller: "controller"},
		"Flag":        {reason: "another's, by flag", args: []string{"-controller=" + filepath.Join(from, "another")}, controller: "another"},
		"Environment": {reason: "with the race detector", env: filepath.Join(from, "third"), controller: "third"},
		"Both":        {reason: "what is said in the command counts", env: filepath.Join(from, "third"), args: []string{"-controller=" + filepath.Join(from, "another")}, controller: "another"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("DEFAULTPLAN_CONTROLLER", tc.env)
			o := &Options{Binaries: []string{"controller", "webhook"}}
			flags := flag.NewFlagSet("", flag.ContinueOnError)
			given := o.binaryFlags(flags)
			require.NoError(t, flags.Parse(tc.args))
			bin := filepath.Join(t.TempDir(), "bin")
			require.NoError(t, o.link(t.TempDir(), bin, given))
			for link, want := range map[string]string{"controller": tc.controller, "webhook": "webhook"} {
				target, err := os.Readlink(filepath.Join(bin, link))
				require.NoError(t, err)
				assert.Equal(t, filepath.Join(from, want), target, tc.reason)
			}
		})
	}
}

// Packages of any depth find the binaries of their project, also those with a module of their own.
func TestProjectRoot(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	deep := filepath.Join(root, "e2e", "osb")
	require.NoError(t, os.MkdirAll(deep, 0o700))
	_, err := projectRoot(deep)
	require.ErrorContains(t, err, "no parent folder has a go.mod of module "+project)
	require.NoError(t, os.WriteFile(filepath.Join(root, "go.mod"), []byte("module "+project+"\n\ngo 1.26.0\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(deep, "go.mod"), []byte("module "+project+"/e2e/osb\n"), 0o600))
	found, err := projectRoot(deep)
	require.NoError(t, err)
	assert.Equal(t, root, found)
}
