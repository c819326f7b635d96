package merge_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/merge"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		in     string
		want   string
	}{
		"SortedKeys": {reason: "by bytes, at every depth", in: `{"b":1,"a":{"z":1,"Z":2,"ä":3}}`, want: `{"a":{"Z":2,"z":1,"ä":3},"b":1}`},
		"NumbersAsIs": {
			reason: "9007199254740993 and 1.10 keep their text",
			in:     `{"a":9007199254740993,"b":1.10,"c":1E400}`,
			want:   `{"a":9007199254740993,"b":1.10,"c":1E400}`,
		},
		"NoHTML":       {reason: "no browser reads this", in: `{"a":"<a href='x'>&"}`, want: `{"a":"<a href='x'>&"}`},
		"NoSpace":      {reason: "white space goes", in: "{ \"a\" : [ 1 , null ] }\n", want: `{"a":[1,null]}`},
		"EmptyObjects": {reason: "empty is not absent", in: `{"a":{},"b":[],"c":""}`, want: `{"a":{},"b":[],"c":""}`},
		"Nothing":      {reason: "nil is null", in: ``, want: `null`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, canonical(t, decode(t, tc.in)), tc.reason)
		})
	}
}

func TestCanonicalRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		in     any
		want   string
	}{
		"Function": {reason: "not data", in: map[string]any{"a": func() {}}, want: "cannot encode parameters as JSON: no JSON form of Go type func()"},
		"NaN":      {reason: "no JSON number", in: math.NaN(), want: "cannot encode parameters as JSON: a number is malformed, or a value contains itself"},
		"Secret": {
			reason: "the text of a malformed number is not shown",
			in:     json.Number("hunter2"),
			want:   "cannot encode parameters as JSON: a number is malformed, or a value contains itself",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := merge.Canonical(tc.in)
			require.EqualError(t, err, tc.want, tc.reason)
			_, err = merge.Checksum(tc.in)
			require.EqualError(t, err, tc.want, tc.reason)
		})
	}
}

func TestChecksum(t *testing.T) {
	t.Parallel()
	sum := func(text string) string {
		got, err := merge.Checksum(decode(t, text))
		require.NoError(t, err)
		return got
	}
	assert.Equal(t, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", sum(`{}`), "SHA-256 of {}")
	assert.Equal(t, sum(`{"a":1,"b":{"c":2,"d":3}}`), sum(`{"b":{"d":3,"c":2},"a":1}`), "the order of keys does not matter")
	assert.NotEqual(t, sum(`{"a":[1,2]}`), sum(`{"a":[2,1]}`), "the order of items does")
	assert.NotEqual(t, sum(`{"a":null}`), sum(`{}`), "a null is not nothing")
}

// The texts are those that Go's json.Marshal made for the retired catalog.
func TestRetiredChecksum(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, in, text string
	}{
		"HTML":        {reason: "escaped", in: `{"url":"a&b<c>"}`, text: `{"url":"a\u0026b\u003cc\u003e"}`},
		"LineEnds":    {reason: "escaped", in: "{\"a\":\"\u2028\u2029\"}", text: `{"a":"\u2028\u2029"}`},
		"Beyond2to53": {reason: "a float64", in: `{"a":9007199254740993}`, text: `{"a":9007199254740992}`},
		"Fractions":   {reason: "as the shortest", in: `{"a":1.0,"b":1e3,"c":1e21}`, text: `{"a":1,"b":1000,"c":1e+21}`},
		"Nested":      {reason: "at every depth, keys sorted", in: `{"b":[{"d":1.50,"c":null}],"a":true}`, text: `{"a":true,"b":[{"c":null,"d":1.5}]}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sum := sha256.Sum256([]byte(tc.text))
			got, err := merge.RetiredChecksum(decode(t, tc.in))
			require.NoError(t, err)
			assert.Equal(t, hex.EncodeToString(sum[:]), got, tc.reason)
		})
	}
	none, err := merge.RetiredChecksum(map[string]any{})
	require.NoError(t, err)
	assert.Empty(t, none)
	_, err = merge.RetiredChecksum(decode(t, `{"password":1e999}`))
	require.EqualError(t, err, "a number is beyond 64-bit floats")
}
