package render

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/manifest"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/rendering"
)

// print writes the objects as they would be stored.
func (c *command) print(objects []*unstructured.Unstructured) error {
	if c.output == "json" {
		return c.printJSON(objects)
	}
	text, err := rendering.YAML(objects)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprint(c.env.Out, text); err != nil {
		return fmt.Errorf("cannot write: %w", err)
	}
	return nil
}

func (c *command) printJSON(objects []*unstructured.Unstructured) error {
	items := make([]any, len(objects))
	for i, object := range objects {
		items[i] = manifest.Bare(object)
	}
	encoder := json.NewEncoder(c.env.Out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "    ")
	if err := encoder.Encode(map[string]any{"apiVersion": "v1", "kind": "List", "items": items}); err != nil {
		return fmt.Errorf("cannot write: %w", err)
	}
	return nil
}
