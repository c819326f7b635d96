package cli

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// TestPrintObject: a template that does not fit prints nothing of the object, neither
// as output nor in the error.
func TestPrintObject(t *testing.T) {
	t.Parallel()
	object := func() *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "List", "items": []any{map[string]any{"password": "hunter2\nhunter2"}}, "word": "hunter2",
		}}
	}
	cases := map[string]struct{ reason, output, want, err string }{
		"Fits":         {reason: "what was asked for", output: "jsonpath={.items[0].password}", want: "hunter2\nhunter2"},
		"OutOfBounds":  {reason: "the index is the template's", output: "jsonpath={.items[100].foo}", err: `error executing jsonpath "{.items[100].foo}": array index out of bounds: index 100, length 1`},
		"NoList":       {reason: "a type is no value", output: "jsonpath={.word[0]}", err: `error executing jsonpath "{.word[0]}": string is not array or slice`},
		"Filtered":     {reason: "the engine names the value", output: `jsonpath={.word[?(@.a=="b")]}`, err: `error executing jsonpath "{.word[?(@.a==\"b\")]}": it does not fit the object`},
		"Template":     {reason: "the printer would print the object first", output: "go-template=a{{index .items 5}}", err: `error executing template "a{{index .items 5}}": template: output:1:3: executing "output" at <index .items 5>: error calling index: index out of range: 5`},
		"Range":        {reason: "the engine names the value", output: "go-template={{range .word}}{{end}}", err: `error executing template "{{range .word}}{{end}}": template: output:1:8: executing "output" at <.word>: it does not fit the object`},
		"Field":        {reason: "a field is the template's", output: "go-template={{.word.x}}", err: `error executing template "{{.word.x}}": template: output:1:7: executing "output" at <.word.x>: can't evaluate field x in type interface {}`},
		"FieldOfItems": {reason: "lines of a template are quoted", output: "go-template={{\n.items.x}}", err: `error executing template "{{\n.items.x}}": template: output:2:6: executing "output" at <.items.x>: can't evaluate field x in type interface {}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flags := genericclioptions.NewPrintFlags("")
			flags.OutputFormat = &tc.output
			printer, err := flags.ToPrinter()
			require.NoError(t, err)
			var out bytes.Buffer
			err = PrintObject(&out, printer, object())
			assert.Equal(t, tc.want, out.String(), tc.reason)
			if tc.err == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, tc.err, tc.reason)
			}
		})
	}
}
