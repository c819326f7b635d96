package get

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

func someObject(name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "K", "metadata": map[string]any{"name": name}, "spec": spec}}
}

func TestCustomColumns(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "columns")
	require.NoError(t, os.WriteFile(file, []byte("NAME TAGS\n\nmetadata.name .spec.tags[*]\n"), 0o600))
	list := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "List", "items": []any{
		someObject("mydb", map[string]any{"tags": []any{"a", "b"}, "weight": int64(3)}).Object, someObject("m", map[string]any{"text": "two\nlines"}).Object,
	}}}
	cases := map[string]struct {
		reason, format, argument string
		noHeaders                bool
		want                     string
	}{
		"Paths":     {reason: "a path is taken with and without braces and the first dot", format: "custom-columns", argument: "NAME:.metadata.name,W:{.spec.weight},T:spec.text", want: "NAME   W        T\nmydb   3        <none>\nm      <none>   two lines\n"},
		"File":      {reason: "headers in the first line, paths in the second", format: "custom-columns-file", argument: file, want: "NAME   TAGS\nmydb   a,b\nm      <none>\n"},
		"NoHeaders": {reason: "for scripts", format: "custom-columns", argument: "NAME:.metadata.name", noHeaders: true, want: "mydb\nm\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			columns, err := newCustomColumns(tc.format, tc.argument, tc.noHeaders)
			require.NoError(t, err)
			var out strings.Builder
			require.NoError(t, columns.PrintObj(list, &out))
			assert.Equal(t, tc.want, out.String(), tc.reason)
			out.Reset()
			require.NoError(t, columns.PrintObj(someObject("n", nil), &out))
			assert.Regexp(t, `^n {0,6}[^\n]*\n$`, out.String(), "one more is one more row")
		})
	}
}

func TestBadCustomColumns(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "columns")
	require.NoError(t, os.WriteFile(file, []byte("NAME TAGS\nmetadata.name\n"), 0o600))
	for name, tc := range map[string]struct{ format, argument, want string }{
		"NoPath":   {"custom-columns", "NAME:.metadata.name,TAGS", `--output custom-columns: "TAGS" is no column; write HEADER:PATH`},
		"Nothing":  {"custom-columns", "", `--output custom-columns: "" is no column; `},
		"BadPath":  {"custom-columns", "NAME:.metadata[", `--output custom-columns: the path ".metadata[" of column NAME cannot be read: `},
		"Braces":   {"custom-columns", "NAME:{.a}{.b}", `--output custom-columns: the path "{.a}{.b}" of column NAME cannot be read: it is no path of a field`},
		"NoFile":   {"custom-columns-file", file + "2", "--output custom-columns-file: open "},
		"BadFile":  {"custom-columns-file", file, "--output custom-columns-file: the file " + file + " does not fit: write the headers in its first line"},
		"Misspelt": {"custom-columns-flie", file, `--output is "custom-columns-flie=`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := newCustomColumns(tc.format, tc.argument, false)
			require.ErrorContains(t, err, tc.want)
			assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
		})
	}
}

func TestComparison(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason       string
		less, larger any
	}{
		"Numbers":    {"9 comes before 10", int64(9), int64(10)},
		"Fractions":  {"numbers of several types are numbers", 1.5, int64(2)},
		"Quantities": {"units count", "900Mi", "1Gi"},
		"Times":      {"times are text that sorts", "2026-01-02T00:00:00Z", "2026-01-10T00:00:00Z"},
		"Text":       {"names", "a", "b"},
		"Mixed":      {"what is no number beside one is text", "10", "small"},
		"Missing":    {"what is not there comes first", nil, "a"},
	} {
		compare := comparison([]any{tc.larger, tc.less})
		assert.Negative(t, compare(tc.less, tc.larger), "%s: %s", name, tc.reason)
		assert.Positive(t, compare(tc.larger, tc.less), "%s: %s", name, tc.reason)
		assert.Zero(t, compare(tc.less, tc.less), name)
	}
	mixed := []any{"2", nil, "1f", "1e3"}
	slices.SortFunc(mixed, comparison(mixed))
	assert.Equal(t, []any{nil, "1e3", "1f", "2"}, mixed, "one value that is no number makes all of them text")
	amounts := []any{"1e3", "2", nil, "1k"}
	slices.SortStableFunc(amounts, comparison(amounts))
	assert.Equal(t, []any{nil, "2", "1e3", "1k"}, amounts, "what is not there is no text")
}

func TestBadListFlags(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		flags flags
		args  []string
		want  string
	}{
		"Selector":     {flags: flags{selector: "a in b"}, want: `--selector "a in b" cannot be read: `},
		"SelectorName": {flags: flags{selector: "a=b"}, args: []string{"mydb"}, want: `--selector narrows a list, and "mydb" is one object: give one of them`},
		"SortBy":       {flags: flags{sortBy: "{.a[}"}, want: `--sort-by "{.a[}" cannot be read: `},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tc.flags.parse(tc.args)
			require.ErrorContains(t, err, tc.want)
			assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
		})
	}
}
