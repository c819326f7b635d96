package manifest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// A part is the text of one document, and the line of its file where it begins.
type part struct {
	text []byte
	line int
}

// parts splits a file into its documents: YAML between its marks, and JSON objects one
// behind another. Those that hold nothing are left out.
func parts(text []byte) []part {
	var all []part
	now := part{line: 1}
	line := 0
	for one := range bytes.Lines(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		line++
		if marks(one) {
			all = append(all, now.split()...)
			// What stands behind the mark belongs to the document.
			now = part{line: line, text: append([]byte("   "), one[3:]...)}
			continue
		}
		now.text = append(now.text, one...)
	}
	return append(all, now.split()...)
}

// marks says that a line begins or ends a YAML document.
func marks(line []byte) bool {
	return (bytes.HasPrefix(line, []byte("---")) || bytes.HasPrefix(line, []byte("..."))) &&
		(len(line) == 3 || bytes.ContainsAny(line[3:4], " \t\r\n"))
}

// split takes JSON objects apart that stand one behind another. The rest may be YAML.
func (p part) split() []part {
	var all []part
	for {
		trimmed := bytes.TrimLeft(p.text, " \t\r\n")
		if len(trimmed) == 0 || trimmed[0] != '{' {
			break
		}
		var object json.RawMessage
		decoder := json.NewDecoder(bytes.NewReader(trimmed))
		if decoder.Decode(&object) != nil {
			break
		}
		begin := p.line + bytes.Count(p.text[:len(p.text)-len(trimmed)], []byte("\n"))
		all = append(all, part{text: object, line: begin})
		p = part{text: trimmed[decoder.InputOffset():], line: begin + bytes.Count(object, []byte("\n"))}
	}
	if blank(p.text) {
		return all
	}
	if len(all) == 0 {
		return []part{p}
	}
	rest := bytes.TrimLeft(p.text, " \t\r\n")
	return append(all, part{text: rest, line: p.line + bytes.Count(p.text[:len(p.text)-len(rest)], []byte("\n"))})
}

// blank says that a document holds nothing but comments.
func blank(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// holder is the key under which a YAML document is read. The library drops without a
// word what follows the end of a document; behind the value of a key it may not stand.
const holder = "document"

// fromYAML makes JSON of a YAML document.
func fromYAML(p part) ([]byte, error) {
	held := []byte(holder + ":\n")
	for line := range bytes.Lines(p.text) {
		held = append(append(held, ' '), line...)
	}
	text, err := yaml.YAMLToJSONStrict(held)
	if err != nil {
		return nil, unreadable(err, p.line)
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil || len(fields) != 1 {
		return nil, errors.New("something follows the end of the document")
	}
	return fields[holder], nil
}

// yamlLine is where the YAML library says that a mistake is.
var yamlLine = regexp.MustCompile(`(?m)^(?:yaml:| ) ?line (\d+): `)

// mistakes are the library's words that are passed on: others may quote the document,
// which may be a Secret. Of some it tells the line before.
var mistakes = []struct {
	words, said string
	late        int
}{
	{words: "did not find expected key", late: 1},
	{words: "did not find expected node content", late: 1},
	{words: "did not find expected '-' indicator", late: 1},
	{words: "did not find expected ',' or '}'", late: 1},
	{words: "did not find expected ',' or ']'", late: 1},
	{words: "mapping values are not allowed in this context"},
	{words: "could not find expected ':'"},
	{words: "found character that cannot start any token"},
	{words: "found a tab character that violates indentation"},
	{words: "already set in map", said: "a key is there twice"},
}

// unreadable is a mistake in a document that begins at a line of its file.
func unreadable(err error, first int) error {
	where, what := "", ""
	late := 0
	for _, known := range mistakes {
		if strings.Contains(err.Error(), known.words) {
			what, late = ": "+cmp.Or(known.said, known.words), known.late
			break
		}
	}
	if found := yamlLine.FindStringSubmatch(err.Error()); found != nil {
		if line, err := strconv.Atoi(found[1]); err == nil {
			// The holder's line is the first.
			where = fmt.Sprintf(", line %d of the file", line-1+first-1+late)
		}
	}
	return errors.New("it cannot be read as YAML" + where + what)
}
