package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// TestQuestionInAScript: where no person can type an answer, nothing is asked and nothing is read, even
// if a yes is there to read.
func TestQuestionInAScript(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = reader.Close() })
	_, err = writer.WriteString("yes\n")
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	var told bytes.Buffer
	question := &Question{Text: "Delete it?", Where: "svcat deprovision", Instead: "give --yes"}
	err = question.Ask(t.Context(), NewEnv(genericiooptions.IOStreams{In: reader, Out: &told, ErrOut: &told}))
	require.EqualError(t, err, "svcat deprovision asks first, and there is no terminal to ask at: give --yes")
	assert.Empty(t, told.String())
	left, err := io.ReadAll(reader)
	require.NoError(t, err)
	assert.Equal(t, "yes\n", string(left))
}

// Ctrl-C while it asks changes nothing.
func TestQuestionInterrupted(t *testing.T) {
	t.Parallel()
	reader, writer := io.Pipe()
	t.Cleanup(func() { _ = writer.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Equal(t, ExitInterrupted, ExitCode(Untouched(answer(ctx, reader))))
}
