package importing

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// TestAnswers: a line of what is no terminal, and nothing behind it, which is for the next question.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ reason, in, want, rest string }{
		"Line":    {"its end is no part of it", "word\nnext\n", "word", "next\n"},
		"Windows": {"nor is that of Windows", "word\r\nnext", "word", "next"},
		"Last":    {"the last line may have none", "word", "word", ""},
		"Nothing": {"no password is empty", "\nnext", "", "next"},
		"Closed":  {"nor one of what is closed", "", "", ""},
		"Endless": {"what has no end is not read to it", strings.Repeat("x", longestAnswer+1), strings.Repeat("x", longestAnswer), "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			streams, in, _, _ := genericiooptions.NewTestIOStreams()
			in.WriteString(tc.in)
			got, err := askHidden(t.Context(), cli.NewEnv(streams), "token")
			assert.Equal(t, tc.want, got, tc.reason)
			assert.Equal(t, tc.rest, in.String(), tc.reason)
			if tc.want == "" {
				require.EqualError(t, err, "nothing was typed", tc.reason)
				return
			}
			require.NoError(t, err, tc.reason)
		})
	}
}
