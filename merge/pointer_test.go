package merge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/merge"
)

func TestPointer(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		tokens []string
		want   merge.Pointer
	}{
		"Document": {reason: "no token", tokens: []string{}, want: ""},
		"Plain":    {reason: "keys and indexes alike", tokens: []string{"a", "0", "b"}, want: "/a/0/b"},
		"Empty":    {reason: "an empty key is a token", tokens: []string{"", ""}, want: "//"},
		"Slash":    {reason: "a slash in a key", tokens: []string{"a/b", "/"}, want: "/a~1b/~1"},
		"Tilde":    {reason: "a tilde in a key", tokens: []string{"~", "a~b"}, want: "/~0/a~0b"},
		"LikeEscape": {reason: "what looks escaped is escaped again and comes back", tokens: []string{"~1", "~0", "~01"},
			want: "/~01/~00/~001"},
		"Unicode": {reason: "bytes are left alone", tokens: []string{"größe", "😀"}, want: "/größe/😀"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := merge.Pointer("")
			for _, token := range tc.tokens {
				at = at.Child(token)
			}
			assert.Equal(t, tc.want, at, tc.reason)
			assert.Equal(t, tc.tokens, at.Tokens(), tc.reason)
		})
	}
}
