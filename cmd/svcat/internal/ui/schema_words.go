package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/defaultplan/defaultplan/merge"
)

// isChoosy says that a schema has branches, which no form shows.
func isChoosy(schema map[string]any) bool {
	for _, word := range []string{"oneOf", "anyOf", "allOf", "not", "if"} {
		if _, has := schema[word]; has {
			return true
		}
	}
	return false
}

// isMultiline says that a schema is of a text with several lines, such as a certificate: it says
// what is in the text, or shows lines in its default or an example.
func isMultiline(schema map[string]any) bool {
	if textOf(schema, "contentMediaType") != "" {
		return true
	}
	examples, _ := schema["examples"].([]any)
	return slices.ContainsFunc(append(examples, schema["default"]), func(one any) bool {
		text, _ := one.(string)
		return strings.Contains(text, "\n")
	})
}

func isScalar(kind string) bool {
	return kind == "string" || kind == kindNumber || kind == kindInteger || kind == "boolean"
}

// typeOf is the one type of a schema besides null; empty if there is none or several.
func typeOf(schema map[string]any) string {
	switch t := schema["type"].(type) {
	case string:
		return t
	case []any:
		others := slices.DeleteFunc(slices.Clone(t), func(one any) bool { return one == "null" })
		if len(others) == 1 {
			text, _ := others[0].(string)
			return text
		}
	case nil:
		if _, has := schema["properties"]; has {
			return "object"
		}
	}
	return ""
}

// optionsOf are the values of an enum, of a const and of a boolean.
func optionsOf(schema map[string]any) []option {
	values, _ := schema["enum"].([]any)
	if only, has := schema["const"]; has {
		values = []any{only}
	}
	if len(values) == 0 && typeOf(schema) == "boolean" && !isChoosy(schema) {
		values = []any{true, false}
	}
	if len(values) > mostOptions {
		return nil
	}
	options := make([]option, len(values))
	for i, value := range values {
		options[i] = option{Value: compact(value), Label: compact(value)}
		if text, ok := value.(string); ok && text != "" {
			options[i].Label = text
		}
	}
	return options
}

// limits is what a schema allows, in words.
func limits(schema map[string]any) string {
	var words []string
	for _, limit := range []struct{ keyword, words string }{
		{"minimum", "at least %s"}, {"exclusiveMinimum", "more than %s"}, {"maximum", "at most %s"}, {"exclusiveMaximum", "less than %s"},
		{"multipleOf", "a multiple of %s"}, {"minLength", "at least %s characters"}, {"maxLength", "at most %s characters"},
		{"minItems", "at least %s entries"}, {"maxItems", "at most %s entries"},
	} {
		if number, ok := schema[limit.keyword].(json.Number); ok {
			words = append(words, fmt.Sprintf(limit.words, number))
		}
	}
	if pattern := textOf(schema, "pattern"); pattern != "" {
		words = append(words, "matching "+pattern)
	}
	return strings.Join(words, ", ")
}

// defaultOf says what a parameter is that is left out, and who says so.
func (f *former) defaultOf(schema map[string]any, at merge.Pointer) string {
	value, has := at.Get(f.preset.Values)
	if layer := f.preset.OriginOf(at); has && layer != "" {
		return compact(value) + ", by the " + layer
	}
	if value, has := schema["default"]; has {
		return compact(value) + ", by the broker itself"
	}
	return ""
}

func textOf(schema map[string]any, name string) string {
	text, _ := schema[name].(string)
	return strings.TrimSpace(text)
}

// compact is a value as JSON on one line.
func compact(value any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "?"
	}
	return strings.TrimSpace(text.String())
}

// indented is JSON for people to read.
func indented(raw []byte) string {
	var text bytes.Buffer
	if err := json.Indent(&text, raw, "", "  "); err != nil {
		return string(raw)
	}
	return text.String()
}
