package termtext_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
)

func TestLine(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ reason, text, want string }{
		"Plain":    {"nothing to do, not even with spaces", "a  größerer plan \u4e2d", "a  größerer plan \u4e2d"},
		"Lines":    {"one line", "two\r\nlines\tand\u2028more ", "two lines and more"},
		"Escape":   {"colours too", "\x1b[31mred\x07\x7f", "\ufffd[31mred\ufffd\ufffd"},
		"C1":       {"the short way to say escape", "\u009b31m", "\ufffd31m"},
		"Turned":   {"text would read backwards", "\u202etxt\u2066", "\ufffdtxt\ufffd"},
		"NotUTF8":  {"a terminal may take the byte for C1", "a\x9bb", "a\ufffdb"},
		"Combined": {"letters may have marks", "e\u0301", "e\u0301"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, termtext.Line(tc.text), tc.reason)
			assert.Equal(t, tc.want == tc.text, termtext.Is(tc.text), tc.reason)
		})
	}
}
