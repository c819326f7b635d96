package parameters

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

func TestRedactorText(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason     string
		values     map[string]any
		text, want string
	}{
		"Plain":       {reason: "a value is taken out", values: map[string]any{"k": "s3cret"}, text: "no s3cret, s3cret", want: "no <redacted>, <redacted>"},
		"Nested":      {reason: "wherever it is", values: map[string]any{"k": []any{map[string]any{"x": "s3cret"}}}, text: "s3cret", want: "<redacted>"},
		"Short":       {reason: "too short to be told from words", values: map[string]any{"k": "no"}, text: "no", want: "no"},
		"Longest":     {reason: "nothing of the longer one stays", values: map[string]any{"a": "secret", "b": "secret-more"}, text: "secret-more secret", want: "<redacted> <redacted>"},
		"Number":      {reason: "a number is a value too", values: map[string]any{"pin": json.Number("481516")}, text: "pin 481516", want: "pin <redacted>"},
		"OneLine":     {reason: "the client prints one line", values: map[string]any{"k": "line1\n\n line2"}, text: "line1 line2", want: "<redacted>"},
		"AsJSON":      {reason: "brokers repeat bodies", values: map[string]any{"k": "a\"b\\c\nd"}, text: `{"k":"a\"b\\c\nd"}`, want: `{"k":"<redacted>"}`},
		"AsHTML":      {reason: "as Go encodes it", values: map[string]any{"k": "<&secret>"}, text: `"\u003c\u0026secret\u003e" or "<&secret>"`, want: `"<redacted>" or "<redacted>"`},
		"AsASCII":     {reason: "as Python encodes it", values: map[string]any{"k": "pä\U0001f511s"}, text: `"p\u00e4\ud83d\udd11s"`, want: `"<redacted>"`},
		"AsPHP":       {reason: "a slash may be escaped", values: map[string]any{"k": "a/b/c"}, text: `"a\/b\/c"`, want: `"<redacted>"`},
		"AsEntities":  {reason: "in a page", values: map[string]any{"k": "a&\"b"}, text: "a&amp;&#34;b", want: "<redacted>"},
		"AsURL":       {reason: "in an address", values: map[string]any{"k": "a b&c"}, text: "a+b%26c a%20b&c", want: "<redacted> <redacted>"},
		"Unseen":      {reason: "what does not show is not printed", values: map[string]any{"k": "s3\u200bcret"}, text: "s3cret", want: "<redacted>"},
		"JSONOneLine": {reason: "both", values: map[string]any{"k": "a\"b\n   c"}, text: `a\"b\n c`, want: "<redacted>"},
		"Cut":         {reason: "the client cuts long texts", values: map[string]any{"k": "s3cret-value"}, text: "it is s3cret-v…", want: "it is <redacted>…"},
		"CutShort":    {reason: "so little tells nothing", values: map[string]any{"k": "s3cret-value"}, text: "it is s3c…", want: "it is s3c…"},
		"NotCut":      {reason: "a word is not a beginning", values: map[string]any{"k": "secret-value"}, text: "a secret", want: "a secret"},
		"None":        {reason: "nothing to hide", text: "as it is…", want: "as it is…"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, redactorOf(tc.values, nil).Text(tc.text))
		})
	}
	assert.Equal(t, "s3cret", Redactor{}.Text("s3cret"), "it knows of nothing")
}

// A parameter of a megabyte, the most that one may be, keeps no worker busy: that took minutes.
func TestRedactorOfLongValues(t *testing.T) {
	t.Parallel()
	r := redactorOf(map[string]any{"k": strings.Repeat("x", 1<<20), "short": "s3cret"}, nil)
	cut := "no s3cret, xxxxxxxx…"
	assert.Equal(t, []string{"s3cret", v1beta1.Redacted}, r.all.replacements(cut), "what does not occur is not prepared for")
	assert.Equal(t, "no <redacted>, <redacted>…", r.Text(cut))
}

// Of what is stored, only what comes from Secrets is taken out: the rest is in spec.
func TestRedactorReply(t *testing.T) {
	t.Parallel()
	r := redactorOf(map[string]any{"open": "opened", "hidden": "canary"}, map[string]any{"hidden": "canary"})
	failed := &osb.Error{Operation: "bind", StatusCode: 500, Description: "opened canary", Code: "canary", Unlawful: "type canary"}
	reply := lifecycle.CallResult{Err: fmt.Errorf("wrapped: %w", failed), Poll: &osb.LastOperation{Description: "canary works"}}
	r.CallResult(&reply)
	said := (*osb.Error)(nil)
	require.ErrorAs(t, reply.Err, &said)
	assert.Equal(t, "opened <redacted>", said.Description)
	assert.Equal(t, "<redacted>", said.Code)
	assert.Equal(t, "type <redacted>", said.Unlawful)
	assert.NotContains(t, reply.Err.Error(), "canary")
	assert.Equal(t, "<redacted> works", reply.Poll.Description)
	assert.Equal(t, "opened canary", failed.Description, "the client's error is the client's")

	other := lifecycle.CallResult{Err: errors.New("another")}
	r.CallResult(&other)
	require.EqualError(t, other.Err, "another")
}

// FuzzRedactor: however a broker repeats a value, as text or in a body, it is not told.
func FuzzRedactor(f *testing.F) {
	f.Add("s3cret", "it is ", true)
	f.Add("a\"b\n\tc", "", false)
	placeholder := v1beta1.Redacted
	f.Fuzz(func(t *testing.T, value, before string, asJSON bool) {
		if len(value) < shortestRedacted || strings.Contains(placeholder, value) {
			return
		}
		written := value
		if asJSON {
			encoded, err := json.Marshal(value)
			require.NoError(t, err)
			written = string(encoded[1 : len(encoded)-1])
		}
		text := redactorOf(map[string]any{"k": value}, nil).Text(before + written)
		assert.Contains(t, text, placeholder)
		assert.NotContains(t, strings.ReplaceAll(text, placeholder, "\x00"), written)
	})
}
