package plans

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// maxText is how many bytes of a value are read: no default parameters may be as
// large.
const maxText = 4 << 20

// fromStdin is the value of a flag that is read from standard input.
const fromStdin = "-"

// A reader reads the values of flags: inline, from a file (@FILE) or from standard
// input (-), which one flag can have.
type reader struct {
	stdin io.Reader
}

// text is what the value of a flag stands for.
func (r *reader) text(flag, value string) ([]byte, error) {
	path, isFile := strings.CutPrefix(value, "@")
	switch {
	case value == fromStdin:
		return r.all(flag, "standard input", r.stdin)
	case isFile:
		file, err := os.Open(path)
		if err != nil {
			return nil, cli.Usagef("--%s: cannot read the file: %w", flag, err)
		}
		text, err := r.all(flag, path, file)
		return text, errors.Join(err, file.Close())
	}
	return []byte(value), nil
}

func (*reader) all(flag, name string, from io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, maxText+1))
	if err != nil {
		return nil, cli.Usagef("--%s: cannot read %s: %w", flag, name, err)
	}
	if len(text) > maxText {
		return nil, cli.Usagef("--%s: %s is larger than %d bytes", flag, name, maxText)
	}
	return text, nil
}

// errEmpty is about a value that says nothing, as a template that came out empty.
var errEmpty = errors.New("it is empty; null clears the field")

// asJSON is a text of JSON or YAML as JSON; null is nil. Numbers keep their text, or
// are refused if the API server would change them. Errors say where, never what: values
// may be confidential.
func asJSON(text []byte) (json.RawMessage, error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return nil, errEmpty
	}
	if !json.Valid(text) {
		var err error
		if text, err = fromYAML(text); err != nil {
			return nil, err
		}
	} else if err := keepable(text); err != nil {
		return nil, err
	}
	if string(text) == "null" {
		return nil, nil
	}
	return text, nil
}

// header is how a YAML text may begin.
var header = regexp.MustCompile(`^((%.*|#.*|[ \t]*)\r?\n)*---[ \t]*\r?\n`)

func fromYAML(text []byte) ([]byte, error) {
	// Its lines stay, so that errors count them.
	text = header.ReplaceAllFunc(text, func(lines []byte) []byte { return bytes.Repeat([]byte("\n"), bytes.Count(lines, []byte("\n"))) })
	if first := firstOf(text); first == 0 || string(text) == "---" {
		return nil, errEmpty
	}
	several, err := severalDocuments(text)
	if err != nil || several {
		return nil, errors.Join(err, errors.New("it holds several YAML documents; give one"))
	}
	if !isFlow(text) {
		converted, err := yamlToJSON(text)
		return converted, placed(text, err)
	}
	// The YAML library stops where an object in braces ends, and does not see what
	// follows. Within a list it does.
	converted, err := yamlToJSON(slices.Concat([]byte("[ "), text, []byte("\n]")))
	if err != nil {
		return nil, placed(text, err)
	}
	var items []json.RawMessage
	if err := json.Unmarshal(converted, &items); err != nil || len(items) != 1 {
		return nil, errors.New("it is neither JSON nor YAML: more follows after its end")
	}
	return items[0], nil
}

// isFlow says that a YAML text is in braces or brackets, as JSON is.
func isFlow(text []byte) bool {
	first := firstOf(text)
	return first == '{' || first == '['
}

// firstOf is the first letter of a YAML text that is no comment, 0 if there is none.
func firstOf(text []byte) byte {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return line[0]
		}
	}
	return 0
}

// severalDocuments says that more than one document holds anything.
func severalDocuments(text []byte) (bool, error) {
	documents, found := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))), 0
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return found > 1, nil
		}
		if err != nil {
			return false, errors.New("its lines cannot be read")
		}
		if len(bytes.TrimSpace(document)) > 0 {
			found++
		}
	}
}

// yamlLine finds the place in an error of the YAML library, whose other words may
// quote the text.
var yamlLine = regexp.MustCompile(`line (\d+)`)

// placed is an error of the YAML library, or one of what a text holds, without a word
// of the text.
func placed(text []byte, err error) error {
	_, ours := errors.AsType[*yamlError](err)
	if err == nil || ours || errors.Is(err, errEmpty) {
		return err
	}
	return fmt.Errorf("it is neither JSON nor YAML%s", placeOf(text, err))
}

// placeOf says where the text goes wrong, as far as that is known.
func placeOf(text []byte, err error) string {
	place := ""
	if line := yamlLine.FindStringSubmatch(err.Error()); line != nil {
		place = ", at line " + line[1]
	}
	if !isFlow(text) || text[0] == '#' {
		return place
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(text, new(any))); ok {
		return fmt.Sprintf("; as JSON it goes wrong at line %d, byte %d", 1+bytes.Count(text[:min(int(syntax.Offset), len(text))], []byte("\n")), syntax.Offset)
	}
	return place
}
