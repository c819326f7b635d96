package plans

import (
	"fmt"
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
		"JSON":           {"JSON is taken as it is.", ` {"a": 1.10, "b": 9223372036854775807} `, `{"a": 1.10, "b": 9223372036854775807}`, ""},
		"Null":           {"null clears.", "null\n", "", ""},
		"Tilde":          {"So it does in YAML.", "~", "", ""},
		"YAML":           {"Numbers keep their text.", "a: 9007199254740993\nb: -9223372036854775808\nc: 1.10\nd: 1E3", `{"a":9007199254740993,"b":-9223372036854775808,"c":1.10,"d":1E3}`, ""},
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
		"Twice":          {"Two values for one key are none.", "a: secret\na: 2", "", "line 2: a key appears twice in one object"},
		"SeveralDocs":    {"One document.", "a: 1\n---\nb: 2", "", "it holds several YAML documents; give one"},
		"Empty":          {"Nothing is not null.", " \n", "", "it is empty; null clears the field"},
		"OnlyAHeader":    {"An empty document, neither.", "---\n", "", "it is empty; null clears the field"},
		"NotANumber":     {"What JSON cannot say.", "a: .nan", "", "line 1: a number is not written as JSON has it; write it so, in decimal, or quote it"},
		"OnlyComments":   {"A file that says nothing does not clear.", "# nothing\n# here", "", "it is empty; null clears the field"},
		"CommentedNull":  {"One that says null does.", "# nothing\nnull", "", ""},
		"KeysOfNumbers":  {"Keys are text.", "1: a", `{"1":"a"}`, ""},
		"TrueIsTrue":     {"In YAML's own words.", "a: True\nb: false\nc: ~\nd:", `{"a":true,"b":false,"c":null,"d":null}`, ""},
		"Yes":            {"kubectl reads true, YAML 1.2 a word.", "a: 1\nb: yes", "", "line 2: yes, no, on, off, y and n mean different things to readers of YAML; write true or false, or quote it"},
		"KeysAreWords":   {"n is no false, and 012 not ten.", "{n: 1, on: 2, 012: 3, 1.0: 4, null: 5, true: 6}", `{"n":1,"on":2,"012":3,"1.0":4,"null":5,"true":6}`, ""},
		"KeyOfAList":     {"Nothing else is a key.", "? [a]\n: 1", "", "line 1: a key is no word"},
		"Octal":          {"Ten, or twelve?", "a: 012", "", "line 1: a number is not written as JSON has it; write it so, in decimal, or quote it"},
		"Hex":            {"Not in JSON.", "a: 0x1F", "", "line 1: a number is not written as JSON has it; write it so, in decimal, or quote it"},
		"Underscores":    {"Nor this.", "a: 1_000", "", "line 1: a number is not written as JSON has it; write it so, in decimal, or quote it"},
		"QuotedNumbers":  {"Words are words.", `{a: "012", b: '1e400', c: !!str 5, d: 2020-01-01, e: 1.2.3}`, `{"a":"012","b":"1e400","c":"5","d":"2020-01-01","e":"1.2.3"}`, ""},
		"TooLong":        {"It would be rounded.", "\n{k: 18446744073709551615}", "", "line 1: a whole number does not fit 64 bits with its sign, and the API server would round it; quote it"},
		"TooLongInJSON":  {"In JSON, too.", `{"k": 123456789012345678901234567890}`, "", "before byte 37: a whole number does not fit 64 bits with its sign, and the API server would round it; quote it"},
		"TooLarge":       {"It was a word.", "{e: 1e400}", "", "line 1: a number is larger than the API server can hold; quote it"},
		"TooLargeInJSON": {"The API server could not read it.", `{"e": 1e400}`, "", "before byte 12: a number is larger than the API server can hold; quote it"},
		"Alias":          {"What an alias stands for.", "a: &x {b: 1}\nc: *x", `{"a":{"b":1},"c":{"b":1}}`, ""},
		"AliasOfItself":  {"It has no end.", "a: &x [*x]", "", "line 1: it is nested too deep"},
		"AliasBomb":      {"A small text that is large.", bomb(), "", "line 1: with its aliases written out it is larger than 4194304 bytes"},
		"Merge":          {"YAML 1.2 has none.", "a: &x {b: 1}\nc: {<<: *x}", "", "line 2: << is not read; write out what it stands for"},
		"Tag":            {"What JSON has nothing for.", "a: !!binary aGk=", "", "line 1: a value has a tag that JSON has nothing for"},
		"Directive":      {"A header is no document.", "%YAML 1.1\n# mine\n---\na: 1", `{"a":1}`, ""},
		"DirectiveFlow":  {"Nor before braces; lines are counted with it.", "%YAML 1.1\n---\n{a: 1, b: off}", "", "line 3: yes, no, on, off, y and n mean different things to readers of YAML; write true or false, or quote it"},
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

// bomb is a text whose aliases stand for thousands of millions of words.
func bomb() string {
	text := "{a0: &a0 [word, word]"
	for i := 1; i < 32; i++ {
		text += fmt.Sprintf(", a%d: &a%d [*a%d, *a%d]", i, i, i-1, i-1)
	}
	return text + "}"
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
