package ui

import (
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/merge"
)

// drawn is a form in a line a field: its pointer after a p, kind, what is allowed and its default.
func drawn(fields []field, indent string) string {
	var text strings.Builder
	for i := range fields {
		one := &fields[i]
		fmt.Fprintf(&text, "%sp%s %s", indent, one.Pointer, one.Kind)
		for _, mark := range []struct {
			is   bool
			text string
		}{{one.Required, "!"}, {one.Secret, " secret"}, {one.Items != "", " of " + one.Items}, {one.Limits != "", " (" + one.Limits + ")"}, {one.Default != "", " = " + one.Default}} {
			if mark.is {
				text.WriteString(mark.text)
			}
		}
		for _, o := range one.Options {
			text.WriteString(" " + o.Value)
		}
		text.WriteString("\n" + drawn(one.Fields, indent+" "))
	}
	return text.String()
}

func TestFieldsOf(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ reason, schema, want string }{
		"Scalars":      {"each its own kind", `{"properties": {"a": {"type": "string"}, "b": {"type": "number"}, "c": {"type": "integer"}, "d": {"type": "boolean"}}}`, "p/a text\np/b number\np/c integer\np/d choice true false\n"},
		"Required":     {"those first", `{"required": ["z", 5], "properties": {"a": {"type": "string"}, "z": {"type": "string"}}}`, "p/z text!\np/a text\n"},
		"Enum":         {"any value is a choice", `{"properties": {"a": {"enum": ["x", 1, null, {"b": 2}]}, "c": {"const": "only"}}}`, "p/a choice \"x\" 1 null {\"b\":2}\np/c choice \"only\"\n"},
		"Nullable":     {"null does not count", `{"properties": {"a": {"type": ["string", "null"]}, "b": {"type": ["string", "integer"]}}}`, "p/a text\np/b json\n"},
		"Lists":        {"of scalars, a line each", `{"properties": {"a": {"type": "array", "items": {"type": "integer"}}, "b": {"type": "array", "items": {"type": "object"}}, "c": {"type": "array"}}}`, "p/a lines of integer\np/b json\np/c json\n"},
		"Nested":       {"a group", `{"properties": {"a": {"type": "object", "required": ["x"], "properties": {"x": {"type": "string"}, "y": {"properties": {"z": {"type": "integer"}}}}}}}`, "p/a group\n p/a/x text!\n p/a/y group\n  p/a/y/z integer\n"},
		"Free":         {"an object that says nothing", `{"properties": {"a": {"type": "object"}}}`, "p/a json\n"},
		"Branches":     {"no form shows them", `{"properties": {"a": {"oneOf": [{"type": "string"}]}, "b": {"type": "string", "not": {"const": "x"}}}}`, "p/a json\np/b json\n"},
		"Reference":    {"of the same schema", `{"definitions": {"size": {"type": "integer", "minimum": 1}}, "properties": {"a": {"$ref": "#/definitions/size"}}}`, "p/a integer (at least 1)\n"},
		"OutsideRef":   {"never fetched", `{"properties": {"a": {"$ref": "https://evil.example/schema"}}}`, "p/a json\n"},
		"Circle":       {"ends", `{"properties": {"a": {"$ref": "#/properties/b"}, "b": {"$ref": "#/properties/a"}}}`, "p/a json\np/b json\n"},
		"Recursion":    {"ends as JSON", `{"properties": {"a": {"$ref": "#"}}}`, "p/a group\n p/a/a group\n  p/a/a/a group\n   p/a/a/a/a group\n    p/a/a/a/a/a json\n"},
		"Limits":       {"in words", `{"properties": {"a": {"type": "integer", "minimum": 1, "maximum": 9, "multipleOf": 2}, "b": {"type": "string", "minLength": 2, "pattern": "^a"}}}`, "p/a integer (at least 1, at most 9, a multiple of 2)\np/b text (at least 2 characters, matching ^a)\n"},
		"Defaults":     {"the operator's before the broker's", `{"properties": {"size": {"type": "integer", "default": 1}, "tier": {"type": "string", "default": "x"}, "net": {"properties": {"cidr": {"type": "string"}, "v6": {"type": "boolean"}}}}}`, "p/net group\n p/net/cidr text = \"10.0.0.0/8\", by the class\n p/net/v6 choice true false\np/size integer = 5, by the plan\np/tier text = \"x\", by the broker itself\n"},
		"Secret":       {"is not shown", `{"properties": {"a": {"type": "string", "format": "password"}, "b": {"type": "string", "writeOnly": true}}}`, "p/a text secret\np/b text secret\n"},
		"AnySecret":    {"of any kind, and what a secret object has; nor its default", `{"properties": {"a": {"type": "integer", "writeOnly": true, "default": 5}, "b": {"writeOnly": true, "properties": {"c": {"type": "string", "default": "x"}}}}}`, "p/a integer secret\np/b group secret\n p/b/c text secret\n"},
		"OddNames":     {"are escaped as pointers are", `{"properties": {"a/b~c": {"type": "string"}, "": {"type": "string"}}}`, "p/ text\np/a~1b~0c text\n"},
		"NotProperty":  {"false allows nothing", `{"properties": {"a": false, "b": true, "c": 5}}`, ""},
		"NoProperties": {"nothing to ask for", `{"type": "object"}`, ""},
		"NoSchema":     {"none", ``, ""},
		"NotJSON":      {"none", `{`, ""},
		"NotAnObject":  {"none", `[]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			preset, err := merge.Layers(
				merge.Layer{Name: "class", Values: map[string]any{"net": map[string]any{"cidr": "10.0.0.0/8"}}},
				merge.Layer{Name: "plan", Values: map[string]any{"size": 5}}, merge.Layer{Name: "user"})
			require.NoError(t, err)
			assert.Equal(t, tc.want, drawn(fieldsOf([]byte(tc.schema), &preset), ""), tc.reason)
		})
	}
}

// TestAFormHasAnEnd: whatever a schema is.
func TestAFormHasAnEnd(t *testing.T) {
	t.Parallel()
	var properties, values []string
	for i := range 1000 {
		properties = append(properties, fmt.Sprintf(`"p%03d": {"type": "string"}`, i))
		values = append(values, fmt.Sprint(i))
	}
	fields := fieldsOf([]byte(`{"properties": {`+strings.Join(properties, ",")+`}}`), &merge.Result{})
	assert.Len(t, fields, mostFields)
	fields = fieldsOf([]byte(`{"properties": {"a": {"enum": [`+strings.Join(values, ",")+`]}}}`), &merge.Result{})
	assert.Equal(t, "p/a json\n", drawn(fields, ""))
	wide := `{"properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}, "c": {"$ref": "#"}, "d": {"$ref": "#"}, "e": {"$ref": "#"}}}`
	assert.LessOrEqual(t, strings.Count(drawn(fieldsOf([]byte(wide), &merge.Result{}), ""), "\n"), mostFields)
}

const formSchema = `{"properties": {
	"text": {"type": "string"}, "whole": {"type": "integer"}, "number": {"type": "number"}, "yes": {"type": "boolean"}, "tier": {"enum": ["a", "b", 5]},
	"list": {"type": "array", "items": {"type": "string"}}, "ports": {"type": "array", "items": {"type": "integer"}}, "flags": {"type": "array", "items": {"type": "boolean"}},
	"any": {}, "net": {"properties": {"cidr": {"type": "string"}, "deep": {"properties": {"x": {"type": "integer"}}}}}}}`

// TestFilledForm: what is typed becomes parameters, and nothing else does.
func TestFilledForm(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ reason, field, typed, want, problem string }{
		"Nothing":      {"is not sent", "text", "", `null`, ""},
		"TextOfLines":  {"newlines are kept", "text", "\r\na\r\nb\r\n", `{"text":"\na\nb\n"}`, ""},
		"Text":         {"as it is", "text", ` <b>"x"</b> `, `{"text":" <b>\"x\"</b> "}`, ""},
		"TextIsNoJSON": {"true is a text here", "text", "true", `{"text":"true"}`, ""},
		"Whole":        {"spaces around do not count", "whole", " 5 ", `{"whole":5}`, ""},
		"Negative":     {"below zero", "whole", "-5", `{"whole":-5}`, ""},
		"NotWhole":     {"a fraction", "whole", "5.5", `null`, "no whole number"},
		"Octal":        {"no number of JSON", "whole", "012", `null`, "no whole number"},
		"Hex":          {"no number of JSON", "whole", "0x1f", `null`, "no whole number"},
		"TooLarge":     {"the API server would round it", "whole", "9223372036854775808", `null`, "too large"},
		"Number":       {"its text is kept", "number", "1.50e3", `{"number":1.50e3}`, ""},
		"Infinity":     {"no number of JSON", "number", "Infinity", `null`, "no number"},
		"HugeNumber":   {"nor one that fits", "number", "1e999", `null`, "too large"},
		"ManyDigits":   {"the API server would round it", "number", "0.1234567890123456789012", `null`, "too long"},
		"Tiny":         {"the API server would make it 0", "number", "1e-400", `null`, "too long"},
		"Endless":      {"nor is it worked out", "number", "1e-999999999", `null`, "too long"},
		"Half":         {"the API server would round it", "number", "9007199254740993.5", `null`, "too long"},
		"LongFraction": {"the API server would round it", "number", "12345678901234567890.0", `null`, "too long"},
		"Tenth":        {"nothing is lost of it", "number", "0.1", `{"number":0.1}`, ""},
		"LongJSON":     {"at any depth", "any", `{"a": [0.1234567890123456789012]}`, `null`, "too long"},
		"Yes":          {"a boolean", "yes", "true", `{"yes":true}`, ""},
		"No":           {"false is said, too", "yes", "false", `{"yes":false}`, ""},
		"Neither":      {"nothing else", "yes", "yes", `null`, "none of the values"},
		"Choice":       {"by its JSON", "tier", `"b"`, `{"tier":"b"}`, ""},
		"ChoiceNumber": {"of any type", "tier", `5`, `{"tier":5}`, ""},
		"NoChoice":     {"none that was offered", "tier", `"c"`, `null`, "none of the values"},
		"Lines":        {"one entry a line, as it was typed", "list", "a\r\n\r\n b \n", `{"list":["a"," b "]}`, ""},
		"NoLines":      {"nothing but empty ones", "list", "\n\n", `null`, ""},
		"Ports":        {"of their type", "ports", "1\n 2 \n", `{"ports":[1,2]}`, ""},
		"NotPorts":     {"each of them", "ports", "1\nx", `null`, "no whole number"},
		"Flags":        {"of their type", "flags", "true\nfalse", `{"flags":[true,false]}`, ""},
		"NotFlags":     {"each of them", "flags", "yes", `null`, "neither true nor false"},
		"JSON":         {"anything", "any", `{"a": [1, null]}`, `{"any":{"a":[1,null]}}`, ""},
		"Null":         {"null is said", "any", `null`, `{"any":null}`, ""},
		"NotJSON":      {"a word", "any", `hello`, `null`, "no JSON"},
		"Twice":        {"a key twice", "any", `{"a": 1, "a": 2}`, `null`, "no JSON"},
		"TwoValues":    {"more than one value", "any", `1, "b": 2`, `null`, "no JSON"},
		"Smuggled":     {"a way out of the value", "any", `1}, {"x": 2`, `null`, "no JSON"},
		"Same":         {"a key of the wrapping", "any", `1, "": 2`, `null`, "no JSON"},
		"Group":        {"only what is said", "net/cidr", "10.0.0.0/8", `{"net":{"cidr":"10.0.0.0/8"}}`, ""},
		"Deep":         {"at any depth", "net/deep/x", "5", `{"net":{"deep":{"x":5}}}`, ""},
		"DeepProblem":  {"at any depth", "net/deep/x", "x", `null`, "no whole number"},
		"Hidden":       {"invisible characters are not copied", "text", "a\u202eb", `null`, "U+202E"},
		"HiddenKey":    {"nor in a key", "any", "{\"a\u200b\": 1}", `null`, "U+200B"},
		"HiddenItem":   {"nor in a list", "list", "a\nb\u0007", `null`, "U+0007"},
		"NoUTF8":       {"nor what is no text", "text", "a\xff", `null`, "no text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fields := fieldsOf([]byte(formSchema), &merge.Result{})
			read := &filled{values: url.Values{namesOf(fields)["/"+tc.field]: {tc.typed}, "p99": {"1"}}}
			assert.Equal(t, tc.want, compact(read.object(fields)), tc.reason)
			assert.Equal(t, tc.problem != "", read.problems > 0)
			var problems []string
			gather(fields, &problems)
			assert.Contains(t, strings.Join(problems, ""), tc.problem)
			if len(tc.typed) > 3 {
				assert.NotContains(t, strings.Join(problems, ""), tc.typed, "no problem repeats what was typed")
			}
		})
	}
}

// namesOf are the names of fields by their pointers.
func namesOf(fields []field) map[string]string {
	names := map[string]string{}
	for i := range fields {
		names[string(fields[i].Pointer)] = fields[i].Name
		maps.Copy(names, namesOf(fields[i].Fields))
	}
	return names
}

func gather(fields []field, problems *[]string) {
	for i := range fields {
		*problems = append(*problems, fields[i].Problem)
		gather(fields[i].Fields, problems)
	}
}
