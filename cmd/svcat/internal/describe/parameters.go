package describe

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
	"github.com/defaultplan/defaultplan/merge"
)

// writeParameters writes the parameters that a broker is sent: without what a null
// of the user took away. Those from Secrets are named only.
func writeParameters(w io.Writer, parameters *runtime.RawExtension, from []v1beta1.ParametersFromSource, removed []string) error {
	values, err := decoded(parameters)
	if err != nil {
		return err
	}
	values = merge.Without(values, pointers(removed))
	if err := writeHeading(w, "Parameters"); err != nil {
		return err
	}
	if err := writeYAML(w, values, len(values) == 0, "No parameters defined"); err != nil || len(from) == 0 {
		return err
	}
	lines := make([]string, 0, len(from))
	for _, source := range from {
		if ref := source.SecretKeyRef; ref != nil {
			lines = append(lines, "  Secret: "+ref.Name+"."+ref.Key+"\n")
		}
	}
	return writeText(w, "\nParameters From:\n"+strings.Join(lines, ""))
}

// writeDefaults writes a block of parameters, or of transforms, that a class or
// plan gives; nothing where it gives none.
func writeDefaults(w io.Writer, heading string, raw *runtime.RawExtension) error {
	values, err := decoded(raw)
	if err != nil || len(values) == 0 {
		return err
	}
	if err := writeHeading(w, heading); err != nil {
		return err
	}
	return writeYAML(w, values, false, "")
}

func decoded(raw *runtime.RawExtension) (map[string]any, error) {
	if raw == nil || len(raw.Raw) == 0 || string(raw.Raw) == "null" {
		return map[string]any{}, nil
	}
	values, err := merge.Decode(raw.Raw)
	if err != nil {
		return nil, fmt.Errorf("cannot read parameters: %w", err)
	}
	return values, nil
}

func pointers(texts []string) []merge.Pointer {
	list := make([]merge.Pointer, len(texts))
	for i, text := range texts {
		list[i] = merge.Pointer(text)
	}
	return list
}

// writeYAML writes a value, two spaces in, or a sentence where there is none.
func writeYAML(w io.Writer, value any, none bool, sentence string) error {
	if none {
		return writeText(w, sentence+"\n")
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("cannot write as YAML: %w", err)
	}
	text, err = yaml.JSONToYAML(text)
	if err != nil {
		return fmt.Errorf("cannot write as YAML: %w", err)
	}
	return writeText(w, indented(plainLines(string(text))))
}

// plainLines is text with what a terminal would obey made harmless, line by line.
func plainLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		inner := strings.TrimLeft(line, " ")
		lines[i] = line[:len(line)-len(inner)] + termtext.Line(inner)
	}
	return strings.Join(lines, "\n")
}

// indented is text with every line that is not empty two spaces in.
func indented(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = "  " + line
		}
	}
	return strings.Join(lines, "\n") + "\n"
}
