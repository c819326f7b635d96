package merge_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/merge"
)

const maxBytes = 256 << 10

// sized is an object whose canonical text has exactly n bytes.
func sized(key string, n int) map[string]any {
	return map[string]any{key: strings.Repeat("x", n-len(`{"":""}`)-len(key))}
}

func TestLayersSize(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		layers []merge.Layer
		want   *merge.LimitError
	}{
		"AtLimit": {
			reason: "256 KiB are allowed, to the byte",
			layers: []merge.Layer{{Name: "user", Values: sized("a", maxBytes)}},
		},
		"OverLimit": {
			reason: "one more is not",
			layers: []merge.Layer{{Name: "user", Values: sized("a", maxBytes+1)}},
			want:   &merge.LimitError{Layer: "user", Pointer: "/a", Quantity: "size", Max: maxBytes},
		},
		"Together": {
			reason: "each is small enough: the larger one is named, with its largest key",
			layers: []merge.Layer{
				{Name: "class", Values: map[string]any{"b": strings.Repeat("x", 150_000), "a": "small", "c/": strings.Repeat("x", 50_000)}},
				{Name: "user", Values: map[string]any{"u": strings.Repeat("x", 150_000)}},
			},
			want: &merge.LimitError{Layer: "class", Pointer: "/b", Quantity: "size", Max: maxBytes},
		},
		"OverriddenIsNotCounted": {
			reason: "the result counts, not what was replaced",
			layers: []merge.Layer{
				{Name: "class", Values: sized("a", 200_000)},
				{Name: "user", Values: sized("a", 200_000)},
			},
		},
		"EscapesAreNotCountedTwice": {
			reason: "the quick bound is too high for plain text: the exact length decides",
			layers: []merge.Layer{{Name: "class", Values: sized("a", 100_000)}, {Name: "user", Values: sized("b", 100_000)}},
		},
		"ManySmall": {
			reason: "numbers, nulls and arrays count as well",
			layers: []merge.Layer{{Name: "user", Values: map[string]any{"a": many(json.Number("12345678"), 30_000), "b": many(nil, 10)}}},
			want:   &merge.LimitError{Layer: "user", Pointer: "/a", Quantity: "size", Max: maxBytes},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := merge.Layers(tc.layers...)
			if tc.want == nil {
				require.NoError(t, err, tc.reason)
				assert.LessOrEqual(t, len(canonical(t, result.Values)), maxBytes)
				return
			}
			var limit *merge.LimitError
			require.ErrorAs(t, err, &limit, tc.reason)
			assert.Equal(t, tc.want, limit, tc.reason)
			assert.Nil(t, result.Values)
		})
	}
}

func many(item any, n int) []any {
	items := make([]any, n)
	for i := range items {
		items[i] = item
	}
	return items
}

func TestLayersDepth(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		depth  int
		want   merge.Pointer // "" if it is allowed
	}{
		"AtLimit":     {reason: "64 are allowed", depth: 64},
		"OverLimit":   {reason: "65 are not", depth: 65, want: merge.Pointer(strings.Repeat("/a/0", 32))},
		"TenThousand": {reason: "found without going deeper", depth: 10_000, want: merge.Pointer(strings.Repeat("/a/0", 32))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deep := merge.Layer{Name: "plan", Values: tower(tc.depth)}
			_, err := merge.Layers(deep, merge.Layer{Name: "user", Values: map[string]any{"b": "x"}})
			if tc.want == "" {
				require.NoError(t, err, tc.reason)
				return
			}
			var limit *merge.LimitError
			require.ErrorAs(t, err, &limit, tc.reason)
			assert.Equal(t, merge.LimitError{Layer: "plan", Pointer: tc.want, Quantity: "depth", Max: 64}, *limit, tc.reason)
		})
	}
}

// tower is what nested writes, built without the decoder, which would refuse it.
func tower(depth int) map[string]any {
	var value any = json.Number("1")
	for i := depth - 1; i >= 0; i-- {
		if i%2 == 0 {
			value = map[string]any{"a": value}
			continue
		}
		value = []any{value}
	}
	object, _ := value.(map[string]any)
	return object
}

func TestLimitErrorSays(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		err    merge.LimitError
		want   string
	}{
		"Depth": {
			reason: "whose, where, what is allowed, what to do",
			err:    merge.LimitError{Layer: "plan", Pointer: "/a/0", Quantity: "depth", Max: 64},
			want:   `parameters of layer "plan" are nested too deeply at "/a/0": at most 64 objects and arrays may be nested; flatten them`,
		},
		"DepthOfOneDocument": {
			reason: "no layer is known yet",
			err:    merge.LimitError{Pointer: "/a", Quantity: "depth", Max: 64},
			want:   `parameters are nested too deeply at "/a": at most 64 objects and arrays may be nested; flatten them`,
		},
		"Path": {
			reason: "the path is not shown: it is what is too long",
			err:    merge.LimitError{Layer: "plan", Quantity: "path", Max: 2048},
			want:   `parameters of layer "plan" have keys that are too long: at most 2048 bytes are allowed for all keys on the way to one value; shorten them`,
		},
		"Size": {
			reason: "the result is too large, one layer has most of it",
			err:    merge.LimitError{Layer: "class", Pointer: "/b", Quantity: "size", Max: 262144},
			want:   `merged parameters are too large, most of it from parameters of layer "class" at "/b": at most 262144 bytes are allowed; make them smaller`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.EqualError(t, &tc.err, tc.want, tc.reason)
		})
	}
}

// TestLimitErrorIsShort: keys come from outside, and a deep path of long ones must not fill a log.
func TestLimitErrorIsShort(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"", "/", "/x", "/xy"} {
		err := merge.LimitError{Pointer: merge.Pointer(before + strings.Repeat("😀", 5000)), Quantity: "depth", Max: 64}
		assert.Less(t, len(err.Error()), 400)
		assert.True(t, utf8.ValidString(err.Error()))
		assert.NotContains(t, err.Error(), `\x`, "no rune is cut in two")
	}
}

// TestLayersDepthBeside: what is too deep is found behind shallow neighbours.
func TestLayersDepthBeside(t *testing.T) {
	t.Parallel()
	values := map[string]any{"a": []any{[]any{}, map[string]any{"x": nil}, tower(63), "s", tower(64)}, "z": json.Number("1")}
	_, err := merge.Layers(merge.Layer{Name: "class", Values: values}, merge.Layer{Name: "user"})
	var limit *merge.LimitError
	require.ErrorAs(t, err, &limit)
	assert.Equal(t, merge.Pointer("/a/2"+strings.Repeat("/a/0", 31)), limit.Pointer, "63 below two are one too many")

	values = map[string]any{"a": []any{[]any{tower(60)}, tower(62)}}
	_, err = merge.Layers(merge.Layer{Name: "class", Values: values}, merge.Layer{Name: "user"})
	require.NoError(t, err)
}

// TestLayersSizeOfForeignValues: a value without a text counts as nothing where the largest layer is looked for.
func TestLayersSizeOfForeignValues(t *testing.T) {
	t.Parallel()
	_, err := merge.Layers(merge.Layer{Name: "class", Values: map[string]any{"a": func() {}}}, merge.Layer{Name: "user", Values: sized("a", maxBytes+1)})
	var limit *merge.LimitError
	require.ErrorAs(t, err, &limit)
	assert.Equal(t, "user", limit.Layer)
}

// TestLayersOfForeignValues: values that no decoder gives are refused where the text of the result is needed.
func TestLayersOfForeignValues(t *testing.T) {
	t.Parallel()
	_, err := merge.Layers(merge.Layer{Name: "user", Values: map[string]any{"f": func() {}, "a": strings.Repeat("x", maxBytes)}})
	require.EqualError(t, err, "cannot measure the merged parameters: cannot encode parameters as JSON: no JSON form of Go type func()")
}

// TestLayersBlamesTheSameKeyEachTime: of two keys that are as large, the first by name is the one that is named.
func TestLayersBlamesTheSameKeyEachTime(t *testing.T) {
	t.Parallel()
	half := strings.Repeat("x", maxBytes/2)
	for range 20 {
		_, err := merge.Layers(merge.Layer{Name: "user", Values: map[string]any{"b": half, "a": half, "c": half}})
		var limit *merge.LimitError
		require.ErrorAs(t, err, &limit)
		require.Equal(t, merge.Pointer("/a"), limit.Pointer)
	}
}
