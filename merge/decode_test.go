package merge_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/merge"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		in     string
		want   map[string]any
	}{
		"Object": {
			reason: "numbers keep their text",
			in:     `{"a":9007199254740993,"b":[1.50,null,true,"x"]}`,
			want:   map[string]any{"a": json.Number("9007199254740993"), "b": []any{json.Number("1.50"), nil, true, "x"}},
		},
		"Empty":   {reason: "{} is an object without keys", in: ` {} `, want: map[string]any{}},
		"Nothing": {reason: "no text is no values", in: ``},
		"Null":    {reason: "what typed clients send for none", in: " null\n"},
		"Colons": {
			reason: "colons in strings are no members",
			in:     `{"a:b":"::\":{[","c":[{"d:":1}]}`,
			want:   map[string]any{"a:b": `::":{[`, "c": []any{map[string]any{"d:": json.Number("1")}}},
		},
		"SameKeys": {
			reason: "the same key in different objects is no duplicate",
			in:     `{"a":{"a":[{"a":1},{"a":2}]}}`,
			want:   map[string]any{"a": map[string]any{"a": []any{map[string]any{"a": json.Number("1")}, map[string]any{"a": json.Number("2")}}}},
		},
		"Unicode":    {reason: "escapes are read", in: `{"\u00e9":"\ud83d\ude00"}`, want: map[string]any{"é": "😀"}},
		"CaseOfKeys": {reason: "keys that differ in case are two", in: `{"a":1,"A":2}`, want: map[string]any{"a": json.Number("1"), "A": json.Number("2")}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := merge.Decode([]byte(tc.in))
			require.NoError(t, err, tc.reason)
			assert.Empty(t, cmp.Diff(tc.want, got), tc.reason)
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	const twice = `cannot decode parameters: key %s appears twice; keep one of the two`
	cases := map[string]struct {
		reason string
		in     string
		want   string
	}{
		"Array":          {reason: "parameters are an object", in: `[1]`, want: `cannot decode parameters: they must be a JSON object`},
		"String":         {reason: "no scalar, and it is not shown", in: `"hunter2"`, want: `cannot decode parameters: they must be a JSON object`},
		"Broken":         {reason: "the place, not the text", in: `{"password":hunter2}`, want: `cannot decode parameters: not valid JSON at byte 13`},
		"Cut":            {reason: "the end is missing", in: `{"a":1`, want: `cannot decode parameters: not valid JSON at byte 6`},
		"CutInString":    {reason: "even within an escape", in: `{"a":"\`, want: `cannot decode parameters: not valid JSON at byte 7`},
		"BrokenIndented": {reason: "counted in the text that was given", in: "\n  {\"a\":x}", want: `cannot decode parameters: not valid JSON at byte 9`},
		"ForeignSpace": {
			reason: "JSON knows four kinds of space; a vertical tab is none",
			in:     "{}\v",
			want:   `cannot decode parameters: more text follows the JSON value, at byte 2`,
		},
		"Trailing":         {reason: "nothing may follow", in: `{"a":1}{"b":2}`, want: `cannot decode parameters: more text follows the JSON value, at byte 8`},
		"TrailingBrace":    {reason: "not even a brace", in: `{"a":1}}`, want: `cannot decode parameters: more text follows the JSON value, at byte 7`},
		"Duplicate":        {reason: "the key's path", in: `{"a":1,"b":2,"a":3}`, want: strings.Replace(twice, "%s", `"/a"`, 1)},
		"DuplicateNested":  {reason: "through objects and arrays", in: `{"x":{"y":[0,{"k/":1,"k/":{"z":1}}]}}`, want: strings.Replace(twice, "%s", `"/x/y/1/k~1"`, 1)},
		"DuplicateEscaped": {reason: "written in two ways", in: `{"a":1,"\u0061":2}`, want: strings.Replace(twice, "%s", `"/a"`, 1)},
		"DuplicateAfter":   {reason: "after containers were closed", in: `{"o":{"a":1},"l":[[],{}],"o":null}`, want: strings.Replace(twice, "%s", `"/o"`, 1)},
		"DuplicateDropped": {reason: "though the later one wins and holds less", in: `{"a":{"b":1,"c":2},"a":1}`, want: strings.Replace(twice, "%s", `"/a"`, 1)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := merge.Decode([]byte(tc.in))
			require.EqualError(t, err, tc.want, tc.reason)
			assert.Nil(t, got, tc.reason)
		})
	}
}

// TestDecodeBoundsPaths: what is said of a value has its pointer, so that a long key above many values would
// be written many times.
func TestDecodeBoundsPaths(t *testing.T) {
	t.Parallel()
	const most = 2 << 10
	half := strings.Repeat("k", most/2)
	for name, tc := range map[string]struct {
		reason, in string
		refused    bool
	}{
		"Longest":         {reason: "as long as is allowed", in: `{"` + half + half + `":[1,2,{"":3}]}`},
		"TooLong":         {reason: "one key is longer", in: `{"a":1,"` + half + half + `k":1}`, refused: true},
		"InSum":           {reason: "keys count together, through arrays", in: `{"a":[{"` + half + `":[[{"` + half + `":1}]]}]}`, refused: true},
		"Beside":          {reason: "keys beside each other do not", in: `{"` + half + `":{"a":1},"b":{"` + half + `":1},"c":{"` + half + `":{"` + half[1:] + `":1}}}`},
		"AfterAContainer": {reason: "a closed container counts no longer", in: `{"a":{"` + half + `":{"` + half[2:] + `":1},"b":1},"` + half + half[1:] + `":1}`},
		"Texts":           {reason: "values are no keys", in: `{"a":"` + half + half + half + `","b":["` + half + half + half + `"]}`},
		"Escapes":         {reason: "however they are written", in: `{"` + strings.Repeat(`\u003c\n\u00e9\ud83d\ude00`, most/8) + `":1}`},
		"EscapesTooLong":  {reason: "and one byte more", in: `{"` + strings.Repeat(`\u003c\n\u00e9\ud83d\ude00`, most/8) + `\"":1}`, refused: true},
		"TooDeepAsWell":   {reason: "where it is too deep is not looked for", in: `{"` + half + half + `k":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := merge.Decode([]byte(tc.in))
			if !tc.refused {
				require.NoError(t, err, tc.reason)
				return
			}
			var limit *merge.LimitError
			require.ErrorAs(t, err, &limit, tc.reason)
			assert.Equal(t, "path", limit.Quantity)
			assert.Equal(t, most, limit.Max)
		})
	}
}

// nested is depth objects and arrays in turn, the outermost an object.
func nested(depth int) string {
	var text strings.Builder
	for i := range depth {
		text.WriteString([]string{`{"a":`, `[`}[i%2])
	}
	text.WriteString("1")
	for i := range depth {
		text.WriteString([]string{`}`, `]`}[(depth-1-i)%2])
	}
	return text.String()
}

func TestDecodeDepth(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		in     string
		at     merge.Pointer // "" if it is allowed
	}{
		"AtLimit":     {reason: "64 are allowed", in: nested(64)},
		"OverLimit":   {reason: "65 are not", in: nested(65), at: merge.Pointer(strings.Repeat("/a/0", 32))},
		"TenThousand": {reason: "nor 10,000, without using the stack", in: nested(10_000), at: merge.Pointer(strings.Repeat("/a/0", 32))},
		"LaterInObject": {
			reason: "the path of the deep one, not of its shallow neighbours",
			in:     `{"s":[[1],{}],"d":` + nested(64) + `}`,
			at:     merge.Pointer("/d" + strings.Repeat("/a/0", 31) + "/a"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := merge.Decode([]byte(tc.in))
			if tc.at == "" {
				require.NoError(t, err, tc.reason)
				return
			}
			var limit *merge.LimitError
			require.ErrorAs(t, err, &limit, tc.reason)
			assert.Equal(t, merge.LimitError{Pointer: tc.at, Quantity: "depth", Max: 64}, *limit, tc.reason)
		})
	}
}

func TestDecodeBrokenDepth(t *testing.T) {
	t.Parallel()
	_, err := merge.Decode([]byte(`{"a":` + strings.Repeat("[", 10_000)))
	var limit *merge.LimitError
	require.ErrorAs(t, err, &limit, "deep before it is broken")
	_, err = merge.Decode([]byte(`{"a" ` + strings.Repeat("[", 10_000)))
	require.ErrorAs(t, err, &limit, "broken before it is deep: still refused")
	assert.Empty(t, limit.Pointer)
}

func TestDecodeSize(t *testing.T) {
	t.Parallel()
	_, err := merge.Decode([]byte(`{"a":"` + strings.Repeat("x", 3<<20) + `"}`))
	var limit *merge.LimitError
	require.ErrorAs(t, err, &limit, "3 MB are not read at all")
	assert.Equal(t, merge.LimitError{Quantity: "size", Max: 256 << 10}, *limit)
	require.EqualError(t, err, "parameters are too large: at most 262144 bytes are allowed; make them smaller")
}
