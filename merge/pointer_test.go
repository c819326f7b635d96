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

func TestGetAndSet(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		values map[string]any
		path   []string
		was    any
		has    bool
		want   map[string]any
	}{
		"New":     {reason: "objects on the way are made", values: map[string]any{}, path: []string{"a", "b"}, want: map[string]any{"a": map[string]any{"b": 1}}},
		"Beside":  {reason: "what is beside the path stays", values: map[string]any{"a": map[string]any{"c": 2}}, path: []string{"a", "b"}, want: map[string]any{"a": map[string]any{"b": 1, "c": 2}}},
		"Old":     {reason: "a value is replaced", values: map[string]any{"a": 2}, path: []string{"a"}, was: 2, has: true, want: map[string]any{"a": 1}},
		"Null":    {reason: "a null is a value", values: map[string]any{"a": nil}, path: []string{"a"}, has: true, want: map[string]any{"a": 1}},
		"InWay":   {reason: "any other value on the way is replaced", values: map[string]any{"a": "text"}, path: []string{"a", "b"}, want: map[string]any{"a": map[string]any{"b": 1}}},
		"Escaped": {reason: "keys are taken as they are", values: map[string]any{"a/b": 2}, path: []string{"a/b"}, was: 2, has: true, want: map[string]any{"a/b": 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := merge.Pointer("")
			for _, token := range tc.path {
				at = at.Child(token)
			}
			was, has := at.Get(tc.values)
			assert.Equal(t, tc.was, was, tc.reason)
			assert.Equal(t, tc.has, has, tc.reason)
			merge.Set(tc.values, tc.path, 1)
			assert.Equal(t, tc.want, tc.values, tc.reason)
		})
	}
	document := map[string]any{"a": 1}
	whole, has := merge.Pointer("").Get(document)
	assert.True(t, has)
	assert.Equal(t, document, whole, "the root is the whole document")
}
