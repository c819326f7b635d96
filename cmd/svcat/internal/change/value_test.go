package change

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAsJSON(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		text   string
		want   string
		err    string
	}{
		"JSON":           {"JSON is taken as it is.", ` {"a": 1.10, "b": 18446744073709551616} `, `{"a": 1.10, "b": 18446744073709551616}`, ""},
		"Null":           {"null clears.", "null\n", "", ""},
		"Tilde":          {"So it does in YAML.", "~", "", ""},
		"YAML":           {"Whole numbers keep 64 bits.", "a: 9007199254740993\nb: -9223372036854775808\nc: 18446744073709551615", `{"a":9007199254740993,"b":-9223372036854775808,"c":18446744073709551615}`, ""},
		"Header":         {"A file may begin as YAML files do.", "---\na: 1\n", `{"a":1}`, ""},
		"Braces":         {"Braces need no quotes.", "{size: small}", `{"size":"small"}`, ""},
		"BracesComment":  {"A comment before and after.", "# mine\n{size: small} # so", `{"size":"small"}`, ""},
		"HeaderBraces":   {"A header before braces.", "---\n{size: small}", `{"size":"small"}`, ""},
		"Brackets":       {"A list in brackets is one value.", "[a, b]", `["a","b"]`, ""},
		"List":           {"A list in lines, too.", "- a\n- b", `["a","b"]`, ""},
		"Trailing":       {"Nothing may follow.", `{a: 1}}`, "", "it is neither JSON nor YAML; as JSON it goes wrong at line 1, byte 2"},
		"TrailingValue":  {"Nor another value.", `{a: 1}, {b: 2}`, "", "it is neither JSON nor YAML: more follows after its end"},
		"Unfinished":     {"The place is that of JSON, where it looks like JSON.", "{\"a\": 1,\n \"secret", "", "it is neither JSON nor YAML; as JSON it goes wrong at line 2, byte 17"},
		"BrokenYAML":     {"Or the line.", "a: 1\n  b: secret", "", "it is neither JSON nor YAML, at line 2"},
		"SecretAnchor":   {"Words of the text are not repeated.", "a: *secret", "", "it is neither JSON nor YAML"},
		"Twice":          {"Two values for one key are none.", "a: secret\na: 2", "", "it is neither JSON nor YAML, at line 2: a key appears twice in one object"},
		"SeveralDocs":    {"One document.", "a: 1\n---\nb: 2", "", "it holds several YAML documents; give one"},
		"Empty":          {"Nothing is not null.", " \n", "", "it is empty; null clears the field"},
		"OnlyAHeader":    {"An empty document, neither.", "---\n", "", "it is empty; null clears the field"},
		"NotANumber":     {"What JSON cannot say.", "a: .nan", "", "it is neither JSON nor YAML"},
		"OnlyComments":   {"A file that says nothing does not clear.", "# nothing\n# here", "", "it is empty; null clears the field"},
		"CommentedNull":  {"One that says null does.", "# nothing\nnull", "", ""},
		"KeysOfNumbers":  {"Keys are text.", "1: a", `{"1":"a"}`, ""},
		"YesIsTrue":      {"As kubectl reads it.", "a: yes", `{"a":true}`, ""},
		"QuotedYesIsNot": {"Unless quoted.", `a: "yes"`, `{"a":"yes"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := asJSON([]byte(tc.text))
			if tc.err != "" {
				require.Error(t, err, "%s: %s", tc.reason, got)
				assert.Equal(t, tc.err, err.Error(), tc.reason)
				assert.NotContains(t, err.Error(), "secret", "no word of the value")
				return
			}
			require.NoError(t, err, tc.reason)
			assert.Equal(t, tc.want, string(got), tc.reason)
		})
	}
}

func TestReaderText(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "value")
	require.NoError(t, os.WriteFile(file, []byte("from file"), 0o600))
	from := &reader{stdin: strings.NewReader("from stdin")}
	for value, want := range map[string]string{"inline": "inline", "@" + file: "from file", "-": "from stdin", "": ""} {
		got, err := from.text("flag", value)
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
	_, err := from.text("flag", "@"+file+"-not")
	require.ErrorContains(t, err, "--flag: cannot read the file")
	from.stdin = strings.NewReader(strings.Repeat("x", maxText+1))
	_, err = from.text("flag", "-")
	require.ErrorContains(t, err, "--flag: standard input is larger than")
}
