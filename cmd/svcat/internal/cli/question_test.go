package cli

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Ctrl-C while it asks changes nothing.
func TestQuestionInterrupted(t *testing.T) {
	t.Parallel()
	reader, writer := io.Pipe()
	t.Cleanup(func() { _ = writer.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Equal(t, ExitInterrupted, ExitCode(Untouched(answer(ctx, reader))))
}
