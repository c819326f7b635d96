package render

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// A document is one of the documents of a file, with where it stands.
type document struct {
	file string
	// number counts the documents that are not empty; line is where it begins. Both
	// count from one.
	number, line int
	object       *unstructured.Unstructured
}

// at is where a document stands, for people.
func (d *document) at() string {
	return fmt.Sprintf("%s, document %d (line %d)", d.file, d.number, d.line)
}

// fail is an error about a document.
func (d *document) fail(err error) error { return fmt.Errorf("%s: %w", d.at(), err) }

// split reads the documents of a file. A list is its items.
func split(file string, text []byte) ([]document, error) {
	var found []document
	number := 0
	for _, part := range parts(text) {
		if blank(part.text) {
			continue
		}
		number++
		one := document{file: file, number: number, line: part.line}
		objects, err := decode(part)
		if err != nil {
			return nil, one.fail(err)
		}
		for _, object := range objects {
			one.object = object
			found = append(found, one)
		}
	}
	return found, nil
}

// A part is the text of one document, and the line where it begins.
type part struct {
	text []byte
	line int
}

// parts splits a stream of YAML documents.
func parts(text []byte) []part {
	var all []part
	now := part{line: 1}
	line := 0
	for one := range bytes.Lines(text) {
		line++
		if rest, ok := bytes.CutPrefix(one, []byte("---")); ok && (len(rest) == 0 || bytes.ContainsAny(rest[:1], " \t\r\n")) {
			all = append(all, now)
			// What stands behind the mark belongs to the document.
			now = part{line: line, text: append([]byte("   "), rest...)}
			continue
		}
		now.text = append(now.text, one...)
	}
	return append(all, now)
}

// blank says that a document holds nothing but comments.
func blank(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && string(line) != "..." {
			return false
		}
	}
	return true
}

// decode reads a document, which may be a list.
func decode(p part) ([]*unstructured.Unstructured, error) {
	text, err := yaml.YAMLToJSONStrict(p.text)
	if err != nil {
		return nil, unreadable(err, p.line)
	}
	if string(text) == "null" {
		return nil, nil
	}
	object := &unstructured.Unstructured{}
	// The decoder's own text quotes the document, which may be a Secret.
	if object.UnmarshalJSON(asKind(text)) != nil || object.GetAPIVersion() == "" && object.GetKind() != brokersCatalog {
		return nil, errors.New("it is no object with apiVersion and kind, nor a broker's catalog")
	}
	if !object.IsList() {
		return []*unstructured.Unstructured{object}, nil
	}
	list, err := object.ToList()
	if err != nil {
		return nil, fmt.Errorf("its list cannot be read: %w", err)
	}
	items := make([]*unstructured.Unstructured, len(list.Items))
	for i := range list.Items {
		items[i] = &list.Items[i]
	}
	return items, nil
}

// yamlLine is where the YAML library says that a mistake is, counted from the
// beginning of what it was given.
var yamlLine = regexp.MustCompile(`\bline (\d+)`)

// unreadable is a mistake in a document that begins at a line of its file.
func unreadable(err error, first int) error {
	text := yamlLine.ReplaceAllStringFunc(err.Error(), func(found string) string {
		line, err := strconv.Atoi(found[len("line "):])
		if err != nil {
			return found
		}
		return fmt.Sprintf("line %d of the file", line+first-1)
	})
	return fmt.Errorf("it cannot be read: %s", text)
}
