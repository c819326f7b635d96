package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

func TestReadFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a")
	require.NoError(t, os.WriteFile(path, []byte("text\n"), 0o600))
	text, err := cli.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "text\n", string(text))

	_, err = cli.ReadFile("/nowhere")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = cli.ReadFile("/dev/zero")
	require.EqualError(t, err, "/dev/zero is larger than 4194304 bytes", "it has no end")
}
