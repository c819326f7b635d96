package suite

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is tested was built from the current source, or a warning is printed.
func TestOutdatedBinariesAreToldOf(t *testing.T) {
	t.Parallel()
	root, noon := t.TempDir(), time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	write := func(path string, age time.Duration) {
		path = filepath.Join(root, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chtimes(path, time.Time{}, noon.Add(-age)))
	}
	write("cmd/webhook/main.go", time.Hour)
	write("cmd/svcat/main.go", 2*time.Hour)
	write("cmd/webhook/main_test.go", time.Second)
	write("e2e/stack/stack.go", time.Second)
	write(".git/x.go", time.Second)
	write("bin/webhook", 30*time.Minute)
	write("bin/svcat", 90*time.Minute)
	write("bin/kubectl", 1000*time.Hour)
	said := &bytes.Buffer{}
	require.NoError(t, warnOutdated(said, root, filepath.Join(root, "bin"), []string{"webhook", "svcat", "kubectl"}))
	assert.Equal(t, "warning: binary \"svcat\" is older than "+filepath.Join(root, "cmd/webhook/main.go")+": run `make build` to test what is there now\n", said.String())
}
