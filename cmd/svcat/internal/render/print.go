package render

import (
	"encoding/json"
	"fmt"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/manifest"
)

// print writes what became of each document, and the objects as they would be stored.
func (r *rendering) print() error {
	var names []string
	objects := []any{}
	for _, one := range r.writes {
		r.explain(one)
		name := title(one.result.Object)
		if one.result.Denied != nil || slices.Contains(names, name) {
			continue
		}
		names = append(names, name)
		objects = append(objects, manifest.Bare(r.latest[name].result.Object))
	}
	if r.output == "json" {
		return r.printJSON(objects)
	}
	for i, object := range objects {
		text, err := yaml.Marshal(object)
		if err != nil {
			return fmt.Errorf("cannot encode %s: %w", names[i], err)
		}
		mark := ""
		if i > 0 {
			mark = "---\n"
		}
		if _, err := fmt.Fprintf(r.env.Out, "%s%s", mark, text); err != nil {
			return fmt.Errorf("cannot write: %w", err)
		}
	}
	return nil
}

// explain tells the warnings of one write, and its denial, in kubectl's order.
func (r *rendering) explain(one *write) {
	name := title(one.result.Object)
	for _, warning := range one.result.Warnings {
		r.tellf("Warning: %s: %s", name, warning)
	}
	if one.result.Denied != nil {
		r.tellf("%s: %s is refused:\n%s", one.At(), name, cli.Message(one.result.Denied))
	}
}

func (r *rendering) printJSON(objects []any) error {
	encoder := json.NewEncoder(r.env.Out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "    ")
	if err := encoder.Encode(map[string]any{"apiVersion": "v1", "kind": "List", "items": objects}); err != nil {
		return fmt.Errorf("cannot write: %w", err)
	}
	return nil
}
