package files_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/files"
)

// endless is a reader that gives spaces, and fails the test after more than any file may have.
type endless struct {
	t    *testing.T
	left int
}

func (e *endless) Read(into []byte) (int, error) {
	e.left -= len(into)
	require.Positive(e.t, e.left, "it is read without end")
	for i := range into {
		into[i] = ' '
	}
	return len(into), nil
}

// A file of a pull request may be large, or a link to one without an end. It is not read whole.
func TestFilesWithoutEnd(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	large := filepath.Join(folder, "large.yaml")
	require.NoError(t, os.WriteFile(large, nil, 0o600))
	require.NoError(t, os.Truncate(large, 64<<20+1))
	for _, name := range []string{large, folder} {
		read := files.Files{Names: []string{name}}
		_, err := read.Read(&cli.Env{})
		require.ErrorContains(t, err, large+" is larger than 67108864 bytes")
	}
	stdin := files.Files{Names: []string{"-"}}
	_, err := stdin.Read(cli.NewEnv(genericiooptions.IOStreams{In: &endless{t: t, left: 256 << 20}, Out: io.Discard, ErrOut: io.Discard}))
	require.EqualError(t, err, "cannot read standard input: it is larger than 67108864 bytes")
}
