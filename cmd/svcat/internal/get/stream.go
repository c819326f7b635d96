package get

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// A sink takes the objects of a list.
type sink interface {
	add(object *unstructured.Unstructured) error
	end() error
}

// A stream writes a list object by object, in the layout of kubectl's v1 List.
type stream struct {
	out    io.Writer
	encode func(object *unstructured.Unstructured) ([]byte, error)
	// opening goes before the objects, first before the first, between before others;
	// closing goes behind them, empty in the place of them; tail ends the list.
	opening, first, between, closing, empty, tail string

	begun bool
}

// newStream returns a stream in the format json or yaml.
func newStream(out io.Writer, format string) *stream {
	if format == "json" {
		return &stream{
			out: out, encode: jsonItem, opening: "{\n    \"apiVersion\": \"v1\",\n    \"items\": [", empty: "]", between: ",", closing: "\n    ]",
			tail: ",\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n",
		}
	}
	return &stream{
		out: out, encode: yamlItem, opening: "apiVersion: v1\nitems:", empty: " []\n", first: "\n",
		tail: "kind: List\nmetadata:\n  resourceVersion: \"\"\n",
	}
}

func (s *stream) add(object *unstructured.Unstructured) error {
	text, err := s.encode(object)
	if err != nil {
		return fmt.Errorf("cannot print: %w", err)
	}
	before := s.between
	if !s.begun {
		before = s.opening + s.first
	}
	s.begun = true
	return write(s.out, before, string(text))
}

func (s *stream) end() error {
	if !s.begun {
		return write(s.out, s.opening, s.empty, s.tail)
	}
	return write(s.out, s.closing, s.tail)
}

func write(out io.Writer, texts ...string) error {
	if _, err := io.WriteString(out, strings.Join(texts, "")); err != nil {
		return fmt.Errorf("cannot print: %w", err)
	}
	return nil
}

// jsonItem is an object as an item of a JSON list.
func jsonItem(object *unstructured.Unstructured) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("        ", "    ")
	if err := encoder.Encode(object.Object); err != nil {
		return nil, err
	}
	return append([]byte("\n        "), bytes.TrimRight(text.Bytes(), "\n")...), nil
}

// yamlItem is an object as an item of a YAML list.
func yamlItem(object *unstructured.Unstructured) ([]byte, error) {
	return yaml.Marshal([]any{object.Object})
}

// An each prints the objects one by one.
type each struct {
	out     io.Writer
	printer printers.ResourcePrinter
}

func (e *each) add(object *unstructured.Unstructured) error { return e.printer.PrintObj(object, e.out) }

func (*each) end() error { return nil }

// A whole prints the objects as one list, in the end.
type whole struct {
	out     io.Writer
	printer printers.ResourcePrinter
	items   []any
}

func (w *whole) add(object *unstructured.Unstructured) error {
	w.items = append(w.items, object.Object)
	return nil
}

func (w *whole) end() error {
	items := w.items
	if items == nil {
		items = []any{}
	}
	list := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": ""}, "items": items,
	}}
	return cli.PrintObject(w.out, w.printer, list)
}
