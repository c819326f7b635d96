package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHarmless: whatever a broker wrote, and wherever a write ends.
func TestHarmless(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ reason, text, want string }{
		"Text":       {"lines, tabs and letters of all tongues", "a\tb\nplan größer \u4e2d ✔\n", "a\tb\nplan größer \u4e2d ✔\n"},
		"Ours":       {"what explain and warnings are coloured with", "\x1b[32m✔ yes\x1b[0m \x1b[1mb\x1b[0m \x1b[31mno\x1b[0m \x1b[33;1mWarning:\x1b[0m", "\x1b[32m✔ yes\x1b[0m \x1b[1mb\x1b[0m \x1b[31mno\x1b[0m \x1b[33;1mWarning:\x1b[0m"},
		"Hidden":     {"a colour that hides is none of ours", "\x1b[8mx\x1b[30;40my\x1b[1;8mz", "\ufffd[8mx\ufffd[30;40my\ufffd[1;8mz"},
		"Screen":     {"the screen is not cleared", "\x1b[2J\x1b[Hfine", "\ufffd[2J\ufffd[Hfine"},
		"Title":      {"nor a window named, nor a bell rung", "\x1b]0;x\x07", "\ufffd]0;x\ufffd"},
		"Over":       {"a line is not written over", "denied\rgranted\b", "denied\ufffdgranted\ufffd"},
		"C1":         {"the short escapes", "\u009b2J\u0085", "\ufffd2J\ufffd"},
		"Bytes":      {"nor as a single byte", "\x9b2J\xff", "\ufffd2J\ufffd"},
		"Turned":     {"nor is text turned around", "\u202egnp.\u202c\u2066x\u2069", "\ufffdgnp.\ufffd\ufffdx\ufffd"},
		"TwoEscapes": {"the second is one", "\x1b\x1b[2J", "\ufffd\ufffd[2J"},
		"LongColour": {"no end is waited for without end", "\x1b[00000000000000000000000", "\ufffd[00000000000000000000000"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for cut := range len(tc.text) + 1 {
				var out bytes.Buffer
				to := &terminal{out: &out}
				for _, part := range []string{tc.text[:cut], tc.text[cut:]} {
					n, err := to.Write([]byte(part))
					require.NoError(t, err)
					assert.Equal(t, len(part), n)
				}
				assert.Equal(t, tc.want, out.String(), "%s (cut at %d)", tc.reason, cut)
			}
		})
	}
}

// TestFilesAreNoTerminals: what is no terminal gets every byte.
func TestFilesAreNoTerminals(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, file.Close()) })
	assert.Same(t, file, shown(file))
	assert.False(t, (&Env{}).colours(file))
}
