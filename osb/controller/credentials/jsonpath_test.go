package credentials

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

// What people write is evaluated, on credentials as brokers give them.
func TestEvaluate(t *testing.T) {
	t.Parallel()
	given := map[string]credential{
		"host": {json: json.RawMessage(`"h"`)}, "port": {json: json.RawMessage(`5432`)}, "raw": {bytes: []byte("bytes")},
		"ca":    {json: json.RawMessage(`"` + strings.Repeat("x", 8<<10) + `"`)},
		"nodes": {json: json.RawMessage(`[{"host":"a","ports":[1,2],"up":true},{"host":"b","ports":[3],"up":false}]`)},
	}
	for expression, want := range map[string]string{
		"{.host}:{.port}":      "h:5432",
		"{.raw}":               "bytes",
		"{.nodes[0].host}":     "a",
		"{.nodes[*].ports[*]}": "1 2 3",
		"{.nodes[*]['host']}":  "a b",
		"{range .nodes[*]}{.host}:{.ports[0]},{end}":           "a:1,b:3,",
		"{range .nodes[*]}{range .ports[*]}{@};{end}{end}":     "1;2;3;",
		`{.nodes[?(@.host=="b")].ports[0]}`:                    "3",
		"{.nodes[0:1].host}":                                   "a",
		"{.nodes..host}":                                       "a b",
		strings.Repeat("{.host}{.port}", 200):                  strings.Repeat("h5432", 200),
		"jdbc:{range .nodes[*]}{.host}{','}{end}?{.port}\nend": "jdbc:a,b,?5432\nend",
	} {
		got, err := evaluate(expression, given, maxCredentials)
		require.NoError(t, err, expression)
		assert.Equal(t, want, string(got), expression)
	}
}

// Whatever an expression is, and whatever the broker gave, it takes neither much time nor
// much memory.
func TestEvaluateIsBounded(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200)
	wide := "[" + strings.Repeat("1,", 50_000) + "1]"
	long := `"` + strings.Repeat("x", 500<<10) + `"`
	eight := "['a','a','a','a','a','a','a','a']"
	ends := func(n int) string { return strings.Repeat("{end}", n) }
	for name, tc := range map[string]struct {
		given, expression string
		want              error
	}{
		"Recursions":      {given: deep, expression: "{..a..a..a..a..a}", want: errTooFar},
		"RecursionOfText": {given: long, expression: "{..x}", want: errTooFar},
		"Ranges":          {given: deep, expression: strings.Repeat("{range ..a}", 5) + ends(5), want: errTooFar},
		"Unions":          {given: `1`, expression: strings.Repeat("{range "+eight+"}", 9) + ends(9), want: errTooFar},
		"UnionsInOne":     {given: deep, expression: "{.c" + strings.Repeat(eight, 12) + "}", want: errTooFar},
		"UnionOfUnions":   {given: deep, expression: "{.c" + strings.Repeat(eight, 4) + "..a" + "}", want: errTooFar},
		"Filters":         {given: wide, expression: "{.c[?(@..a)]..[?(@)]..[?(@)]..[?(@)]}", want: errTooFar},
		"TextInLoops":     {given: wide, expression: "{range .c[*]}{range " + eight + "}x" + ends(2), want: errTooFar},
		"OpenRanges":      {given: `1`, expression: strings.Repeat("{range @}", 450), want: errUnlawful},
		"RangesInPaths":   {given: deep, expression: strings.Repeat("{.. range}", 200) + ends(200), want: errUnlawful},
		"RangesOfRanges":  {given: deep, expression: strings.Repeat("{range range}", 100) + ends(200), want: errUnlawful},
		"EndsOfOne":       {given: deep, expression: "{range .c}{end end}", want: errUnlawful},
		"EndOfNone":       {given: deep, expression: "{end}{range .c}", want: errUnlawful},
		"RangeInUnion":    {given: deep, expression: "{['c', range]}", want: errUnlawful},
		"Digits":          {given: strings.Repeat("9", 300<<10), expression: "{..x}", want: errTooFar},
		"NothingIndexed":  {given: `"text"`, expression: "{range .none.*}{[0]}{end}", want: errPath},
		"Output":          {given: long, expression: "{.c}{.c}{.c}", want: errTooLarge},
		"OutputInOne":     {given: long, expression: "{['c','c','c','c']}", want: errTooLarge},
		"OutputOfRange":   {given: "[" + strings.Repeat("1,", 999) + "1]", expression: "{range .c[*]}" + strings.Repeat("x", 3_000) + "{end}", want: errTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Less(t, len(tc.expression), 4096, "what the schema lets through")
			_, err := evaluate(tc.expression, map[string]credential{"c": {json: json.RawMessage(tc.given)}}, maxCredentials)
			require.ErrorIs(t, err, tc.want)
		})
	}
}

// Each transform may multiply what is there: the sum is bounded after each, and it is said
// which went too far.
func TestTransformsAreBounded(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	b := w.binding
	for i := range 20 {
		b.Spec.SecretTransforms = append(b.Spec.SecretTransforms, v1beta1.SecretTransform{
			AddKey: &v1beta1.AddKeyTransform{Key: fmt.Sprintf("k%d", i), JSONPathExpression: new(strings.Repeat("{$}", 100))},
		})
	}
	_, err := w.secrets.data(t.Context(), b, Origin{}, &osb.Binding{Credentials: map[string]json.RawMessage{"password": json.RawMessage(`"canary"`)}})
	require.ErrorIs(t, err, errTooLarge)
	require.ErrorAs(t, err, new(UnstorableError), "it stays so")
	require.ErrorContains(t, err, "secretTransforms[2]: the credentials would be larger than a Secret may be, which is 1048576 bytes")
	assert.NotContains(t, err.Error(), "canary")
}

// Credentials that no Secret can hold are not decoded, and what makes them so is told: a broker may give four times as
// much. What takes some of them away is no reason to refuse the rest.
func TestOnlyStorableCredentialsAreEvaluated(t *testing.T) {
	t.Parallel()
	large := json.RawMessage("[" + strings.Repeat("1,", maxCredentials/2) + "1]")
	path := pathTransform("{.host}")
	for name, tc := range map[string]struct {
		reason     string
		transforms []v1beta1.SecretTransform
		want       error
		says       string
	}{
		"First":   {reason: "before it is found that the path leads nowhere", transforms: []v1beta1.SecretTransform{pathTransform("{.absent}")}, want: errTooLarge, says: "secretTransforms[0]"},
		"Preset":  {reason: "it copies values", transforms: []v1beta1.SecretTransform{{Preset: &v1beta1.PresetTransform{}}}, want: errTooLarge, says: "secretTransforms[0]"},
		"Removed": {reason: "what is left is small", transforms: []v1beta1.SecretTransform{{RemoveKey: &v1beta1.RemoveKeyTransform{Key: "large"}}, path}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newEnv(t)
			b := w.binding
			b.Spec.SecretTransforms = tc.transforms
			made, err := w.secrets.data(t.Context(), b, Origin{}, &osb.Binding{Credentials: map[string]json.RawMessage{"large": large, "host": json.RawMessage(`"h"`)}})
			require.ErrorIs(t, err, tc.want, tc.reason)
			if tc.want == nil {
				assert.Equal(t, "h", string(made.secret["k"]))
				return
			}
			require.ErrorAs(t, err, new(UnstorableError))
			assert.Contains(t, err.Error(), tc.says)
		})
	}
}

// Few expressions are evaluated at once, and one whose time ends before its turn is no fault of the credentials.
func TestExpressionsAreEvaluatedInTurn(t *testing.T) { // not in parallel: it takes all turns
	require.NoError(t, evaluations.Acquire(t.Context(), 2))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	given := map[string]credential{"a": {bytes: []byte("text")}}
	_, err := evaluated(ended, "{.a}", given)
	require.ErrorIs(t, err, context.Canceled)
	assert.NotErrorAs(t, err, new(UnstorableError))
	evaluations.Release(2)
	text, err := evaluated(t.Context(), "{.a}", given)
	require.NoError(t, err)
	assert.Equal(t, "text", string(text))
}

// FuzzEvaluate: no expression ends but by a text that is not too long, or an error.
func FuzzEvaluate(f *testing.F) {
	for _, seed := range []string{"{.a}", "{..b}", "{range .c[*]}{@}{end}", "{.c[?(@.x>1)]}", "{['a','c'][0:2]}", "{range ..}{..}{end}{end}", "{.a", "{$}{@}"} {
		f.Add(seed, `{"b":[1,null,"x"]}`)
	}
	f.Fuzz(func(t *testing.T, expression, given string) {
		if len(expression) > 4096 || !json.Valid([]byte(given)) {
			return
		}
		text, err := evaluate(expression, map[string]credential{"a": {bytes: []byte("text")}, "c": {json: json.RawMessage(given)}}, 1<<10)
		if err == nil {
			assert.LessOrEqual(t, len(text), 1<<10)
		}
	})
}
