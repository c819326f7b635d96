package termtext_test

import (
	"strings"
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

func TestShort(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ reason, text, want string }{
		"Fits":  {"all of it", "größe", "größe"},
		"Cut":   {"the sign for the rest counts", "größer", "größ…"},
		"Clean": {"before it is cut", "a\n\n\n\tb\x1b", "a b\ufffd"},
		"Marks": {"of no width, and yet many", strings.Repeat("\u0301", 1000), "\u0301\u0301\u0301\u0301…"},
		"Empty": {"nothing stays nothing", "", ""},
	} {
		assert.Equal(t, tc.want, termtext.Short(tc.text, 5), "%s: %s", name, tc.reason)
	}
}
