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
		"NoFiles":      {reason: "There is nothing to read.", code: 2, words: "render needs files"},
		"Arguments":    {reason: "Files are named by -f.", args: []string{"chart.yaml"}, code: 2, words: `was given "chart.yaml"; name files with -f`},
		"Absent":       {reason: "A file that is not there.", args: []string{"-f", "none.yaml"}, code: 2, words: `there is no file or folder "none.yaml"`},
		"EmptyFolder":  {reason: "A folder without manifests; those deeper down are asked for.", args: []string{"-f", filepath.Join(folder, "empty")}, code: 2, words: "are read with -R"},
		"StdinTwice":   {reason: "A stream is read once.", args: []string{"-f", "-", "-f", "-"}, code: 2, words: "given 2 times"},
		"Output":       {reason: "Another output.", args: []string{"-f", good, "-o", "tree"}, code: 2, words: `--output is "tree"; allowed are yaml and json`},
		"Option":       {reason: "Another way of the webhook.", args: []string{"-f", good, "--unresolved=perhaps"}, code: 2, words: "allowed are [reject wait]"},
		"Gate":         {reason: "A gate that is not there.", args: []string{"-f", good, "--feature-gates=None=true"}, code: 2, words: "None"},
		"NoObjects":    {reason: "A catalog alone.", stdin: catalog, args: []string{"-f", "-"}, code: 1, words: "there is no ServiceInstance and no ServiceBinding"},
		"BadYAML":      {reason: "The line is the file's.", stdin: stream(catalog, "\na: b\nc: : d\n"), args: []string{"-f", "-"}, code: 1, words: "standard input, document 3 (line 14): it cannot be read: yaml: line 16 of the file"},
		"DuplicateKey": {reason: "A key twice is a mistake.", stdin: "kind: a\nkind: b\n", args: []string{"-f", "-"}, code: 1, words: "line 2 of the file"},
		"NoKind":       {reason: "No object; it may be a Secret, and is not quoted.", stdin: "a: hunter2\n", args: []string{"-f", "-"}, code: 1, words: "it is no object with apiVersion and kind, nor a broker's catalog\n"},
		"NoVersion":    {reason: "Half an object.", stdin: "kind: Secret\na: hunter2\n", args: []string{"-f", "-"}, code: 1, words: "it is no object with apiVersion and kind, nor a broker's catalog\n"},
		"BadCatalog":   {reason: "A catalog that no cluster could hold.", stdin: strings.Replace(stream(catalog, instance), "externalID: db", "externalIDs: db", 1), args: []string{"-f", "-"}, code: 1, words: `standard input, document 1 (line 1): cannot read ClusterServiceClass "db": strict decoding error: unknown field "spec.externalIDs"`},
		"WhoseCatalog": {reason: "A broker's catalog without a name.", stdin: `{"services": []}`, args: []string{"-f", "-"}, code: 1, words: "say of which broker with --broker"},
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
