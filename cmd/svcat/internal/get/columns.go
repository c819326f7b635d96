package get

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/jsonpath"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
)

// customColumns prints objects as a table of the fields that --output names, in the layout of
// kubectl's custom columns. kubectl's own printer is in a package that brings its commands
// along.
type customColumns struct {
	headers []string
	paths   []*jsonpath.JSONPath
	// widths are those of what was printed, nil before.
	widths []int
}

// noField stands for a field that an object does not have.
const noField = "<none>"

// newCustomColumns reads the argument of custom-columns, or of custom-columns-file.
func newCustomColumns(format, argument string, noHeaders bool) (*customColumns, error) {
	var pairs [][2]string
	var err error
	switch format {
	case "custom-columns":
		pairs, err = columnsOfText(argument)
	case "custom-columns-file":
		pairs, err = columnsOfFile(argument)
	default:
		return nil, cli.Usagef("--output is %q; allowed are custom-columns=HEADER:PATH,... and custom-columns-file=FILE", format+"="+argument)
	}
	if err != nil {
		return nil, cli.Usagef("--output %s: %w", format, err)
	}
	c := &customColumns{}
	for _, pair := range pairs {
		path, err := fieldPath(pair[1])
		if err != nil {
			return nil, cli.Usagef("--output %s: the path %q of column %s cannot be read: %w", format, pair[1], pair[0], err)
		}
		c.headers, c.paths = append(c.headers, pair[0]), append(c.paths, path)
	}
	if noHeaders {
		c.widths = make([]int, len(c.paths))
	}
	return c, nil
}

// columnsOfText reads HEADER:PATH,HEADER:PATH.
func columnsOfText(text string) ([][2]string, error) {
	var pairs [][2]string
	for part := range strings.SplitSeq(text, ",") {
		header, path, is := strings.Cut(part, ":")
		if !is || header == "" || path == "" {
			return nil, fmt.Errorf("%q is no column; write HEADER:PATH, as in NAME:.metadata.name, with commas between several", part)
		}
		pairs = append(pairs, [2]string{header, path})
	}
	return pairs, nil
}

var errTemplate = errors.New("write the headers in its first line and as many paths in its second, with spaces between them")

// columnsOfFile reads a file with the headers in one line and the paths in the next.
func columnsOfFile(name string) ([][2]string, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var lines [][]string
	for line := range strings.Lines(string(content)) {
		if words := strings.Fields(line); len(words) > 0 {
			lines = append(lines, words)
		}
	}
	if len(lines) != 2 || len(lines[0]) != len(lines[1]) {
		return nil, fmt.Errorf("the file %s does not fit: %w", name, errTemplate)
	}
	var pairs [][2]string
	for i, header := range lines[0] {
		pairs = append(pairs, [2]string{header, lines[1][i]})
	}
	return pairs, nil
}

// relaxed is a path with or without braces, and with or without the dot before it.
var relaxed = regexp.MustCompile(`^\{?\.?([^{}]+)\}?$`)

// fieldPath reads the path of a field as kubectl does, as in metadata.name, .metadata.name or
// {.metadata.name}.
func fieldPath(text string) (*jsonpath.JSONPath, error) {
	found := relaxed.FindStringSubmatch(text)
	if found == nil {
		return nil, errors.New("it is no path of a field")
	}
	path := jsonpath.New("field").AllowMissingKeys(true)
	return path, path.Parse("{." + found[1] + "}")
}

// valuesAt are the values that an object has at a path.
func valuesAt(path *jsonpath.JSONPath, object runtime.Object) ([]any, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, err
	}
	found, err := path.FindResults(content)
	if err != nil {
		return nil, err
	}
	var values []any
	for _, group := range found {
		for _, value := range group {
			if value.CanInterface() && value.Interface() != nil {
				values = append(values, value.Interface())
			}
		}
	}
	return values, nil
}

// PrintObj prints an object, or those of a list, in rows. Columns become no narrower from one
// call to the next.
func (c *customColumns) PrintObj(object runtime.Object, out io.Writer) error {
	var rows [][]string
	if c.widths == nil {
		c.widths, rows = make([]int, len(c.paths)), [][]string{c.headers}
	}
	add := func(one runtime.Object) error {
		row, err := c.row(one)
		rows = append(rows, row)
		return err
	}
	var err error
	if list, is := object.(*unstructured.Unstructured); is && list.IsList() {
		err = meta.EachListItem(list, add)
	} else {
		err = add(object)
	}
	if err != nil {
		return err
	}
	for _, row := range rows {
		for i, cell := range row {
			c.widths[i] = max(c.widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			_, _ = fmt.Fprintf(&line, "%-*s   ", c.widths[i], cell)
		}
		if _, err := io.WriteString(out, strings.TrimRight(line.String(), " ")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// row are the cells of an object.
func (c *customColumns) row(object runtime.Object) ([]string, error) {
	row := make([]string, len(c.paths))
	for i, path := range c.paths {
		values, err := valuesAt(path, object)
		if err != nil {
			return nil, fmt.Errorf("column %s does not fit: %w", c.headers[i], err)
		}
		words := make([]string, len(values))
		for j, value := range values {
			words[j] = fmt.Sprint(value)
		}
		if row[i] = termtext.Line(strings.Join(words, ",")); row[i] == "" {
			row[i] = noField
		}
	}
	return row, nil
}
