package render_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRenderFails(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, "empty/deep/catalog.yaml", catalog)
	good := write(t, folder, "instance.yaml", stream(catalog, instance))
	cases := map[string]struct {
		reason, stdin string
		args          []string
		code          int
		words         string
	}{
		"NoFiles":         {reason: "There is nothing to read.", code: 2, words: "render needs files"},
		"Arguments":       {reason: "Files are named by -f.", args: []string{"chart.yaml"}, code: 2, words: `was given "chart.yaml"; name files with -f`},
		"Absent":          {reason: "A file that is not there.", args: []string{"-f", "none.yaml"}, code: 1, words: `there is no file or folder "none.yaml"`},
		"EmptyFolder":     {reason: "A folder without manifests; those deeper down are asked for.", args: []string{"-f", filepath.Join(folder, "empty")}, code: 1, words: "are read with -R"},
		"StdinTwice":      {reason: "A stream is read once.", args: []string{"-f", "-", "-f", "-"}, code: 2, words: "given 2 times"},
		"Output":          {reason: "Another output.", args: []string{"-f", good, "-o", "tree"}, code: 2, words: `--output is "tree"; allowed are yaml and json`},
		"Option":          {reason: "Another way of the webhook.", args: []string{"-f", good, "--unresolved=perhaps"}, code: 2, words: "allowed are [reject wait]"},
		"Gate":            {reason: "A gate that is not there.", args: []string{"-f", good, "--feature-gates=None=true"}, code: 2, words: "None"},
		"NoObjects":       {reason: "A catalog alone.", stdin: catalog, args: []string{"-f", "-"}, code: 1, words: "there is no ServiceInstance and no ServiceBinding"},
		"BadYAML":         {reason: "The line is the file's.", stdin: stream(catalog, "\na: b\nc: : d\n"), args: []string{"-f", "-"}, code: 1, words: "standard input, document 3 (line 14): it cannot be read as YAML, line 16 of the file: mapping values are not allowed in this context"},
		"DuplicateKey":    {reason: "A key twice is a mistake.", stdin: "kind: a\nkind: b\n", args: []string{"-f", "-"}, code: 1, words: "line 2 of the file: a key is there twice"},
		"DuplicateInJSON": {reason: "Here too.", stdin: `{"kind": "a", "spec": {"b": "hunter2", "b": 1}}`, args: []string{"-f", "-"}, code: 1, words: `standard input, document 1 (line 1): it cannot be read: duplicate field "spec.b"`},
		"WrongTag":        {reason: "The library quotes the value.", stdin: "kind: Secret\npassword: !!int hunter2\n", args: []string{"-f", "-"}, code: 1, words: "standard input, document 1 (line 1): it cannot be read as YAML\n"},
		"NoAnchor":        {reason: "And the alias.", stdin: "kind: Secret\npassword: *hunter2\n", args: []string{"-f", "-"}, code: 1, words: "it cannot be read as YAML\n"},
		"WordsInValue":    {reason: "And whatever a key holds.", stdin: "a: !!int |\n  hunter2 line 7\n", args: []string{"-f", "-"}, code: 1, words: "it cannot be read as YAML\n"},
		"AfterJSON":       {reason: "What follows an object is a document; it is not dropped.", stdin: catalogJSON + "\n\nhunter2", args: []string{"-f", "-"}, code: 1, words: "standard input, document 2 (line 3): it is no object"},
		"AfterJSONBrace":  {reason: "Here, too.", stdin: catalogJSON + "}", args: []string{"-f", "-"}, code: 1, words: "standard input, document 2 (line 1): it cannot be read as YAML, line 1 of the file: did not find expected node content"},
		"AfterFlow":       {reason: "The library drops it without a word.", stdin: "{kind: a}\n{kind: hunter2}\n", args: []string{"-f", "-"}, code: 1, words: "standard input, document 1 (line 1): it cannot be read as YAML, line 2 of the file: did not find expected key"},
		"AfterBlock":      {reason: "As what is further left than the document.", stdin: stream(catalog, "\n  kind: a\npassword: hunter2\n"), args: []string{"-f", "-"}, code: 1, words: "document 3 (line 14): it cannot be read as YAML, line 16 of the file: did not find expected key"},
		"AfterReturn":     {reason: "Lines that end as no editor ends them.", stdin: "  kind: a\rpassword: hunter2\r", args: []string{"-f", "-"}, code: 1, words: "something follows the end of the document"},
		"AfterDots":       {reason: "The end of a document is the beginning of another.", stdin: catalog + "...\nhunter2\n", args: []string{"-f", "-"}, code: 1, words: "document 3 (line 14): it is no object"},
		"NoItem":          {reason: "A list of something else.", stdin: `{"apiVersion":"v1","kind":"List","items":["hunter2"]}`, args: []string{"-f", "-"}, code: 1, words: "it is a list of something that is no object"},
		"NoKindOfItem":    {reason: "A list of anything does not say of what.", stdin: `{"apiVersion":"v1","kind":"List","items":[{"a":"hunter2"}]}`, args: []string{"-f", "-"}, code: 1, words: "item 1 of the list: it is no object"},
		"NoKind":          {reason: "No object; it may be a Secret, and is not quoted.", stdin: "a: hunter2\n", args: []string{"-f", "-"}, code: 1, words: "it is no object with apiVersion and kind, nor a broker's catalog\n"},
		"NoVersion":       {reason: "Half an object.", stdin: "kind: Secret\na: hunter2\n", args: []string{"-f", "-"}, code: 1, words: "it is no object with apiVersion and kind, nor a broker's catalog\n"},
		"BadCatalog":      {reason: "A catalog that no cluster could hold.", stdin: strings.Replace(stream(catalog, instance), "externalID: db", "externalIDs: db", 1), args: []string{"-f", "-"}, code: 1, words: `standard input, document 1 (line 1): cannot read ClusterServiceClass "db": strict decoding error: unknown field "spec.externalIDs"`},
		"WhoseCatalog":    {reason: "A broker's catalog without a name.", stdin: `{"services": []}`, args: []string{"-f", "-"}, code: 1, words: "say of which broker with --broker"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, tc.stdin, tc.args...)
			assert.Equal(t, tc.code, got.code, tc.reason)
			assert.Contains(t, got.err, tc.words, tc.reason)
			assert.Empty(t, got.out)
			assert.NotContains(t, got.err, "hunter2")
		})
	}
}
