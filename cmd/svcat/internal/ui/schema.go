package ui

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/defaultplan/defaultplan/merge"
)

// The kinds of fields. What has none of the first ones is written as JSON.
const (
	kindText    = "text"
	kindNumber  = "number"
	kindInteger = "integer"
	kindChoice  = "choice"
	kindLines   = "lines"
	kindGroup   = "group"
	kindJSON    = "json"
)

const (
	// deepest is how deep objects become groups of fields.
	deepest = 4
	// mostFields and mostOptions bound a form: a schema may be as long as it likes.
	mostFields  = 200
	mostOptions = 200
	// mostReferences bounds how many $ref lead to one schema.
	mostReferences = 8
)

// A field is one parameter of a form, or an object of several.
type field struct {
	Pointer merge.Pointer
	// ID is of the element, and Name of what it sends.
	ID, Name, Label, Help string
	Kind                  string
	// Items is the kind of a list's lines.
	Items    string
	Required bool
	// Multiline says that a text may have several lines.
	Multiline bool
	// Secret says that what is typed is not shown.
	Secret bool
	// Limits is what the schema allows, in words; Default what it is without an answer.
	Limits, Default string
	Options         []option
	Fields          []field
	// Value is what was typed, and Problem what is wrong with it.
	Value, Problem string
}

// An option is one of a choice's values.
type option struct {
	// Value is the JSON text.
	Value, Label string
	Chosen       bool
}

// A former makes a form of a schema.
type former struct {
	root map[string]any
	// preset are the defaults of the class and of the plan.
	preset merge.Result
	count  int
}

// fieldsOf is the form of a JSON schema; none where it describes no properties. preset
// are the operator's defaults: they come before the schema's own.
func fieldsOf(raw []byte, preset *merge.Result) []field {
	root, err := merge.Decode(raw)
	if err != nil {
		return nil
	}
	f := &former{root: root, preset: *preset}
	return f.fields(f.followed(root), "", 0)
}

// fields are those of an object's properties: the required ones first.
func (f *former) fields(object map[string]any, at merge.Pointer, depth int) []field {
	properties, _ := object["properties"].(map[string]any)
	required := map[string]bool{}
	names, _ := object["required"].([]any)
	for _, name := range names {
		if text, ok := name.(string); ok {
			required[text] = true
		}
	}
	var list []field
	for _, name := range slices.SortedFunc(maps.Keys(properties), func(a, b string) int {
		return cmp.Or(cmp.Compare(late(required[a]), late(required[b])), cmp.Compare(a, b))
	}) {
		property, ok := properties[name].(map[string]any)
		if !ok || f.count >= mostFields {
			continue // false allows no value; what is left can still be written as JSON
		}
		one := f.field(f.followed(property), at.Child(name), depth)
		one.Required = required[name]
		one.Label = name
		if title := textOf(property, "title"); title != "" && title != name {
			one.Label = name + ": " + title
		}
		list = append(list, one)
	}
	return list
}

func late(required bool) int {
	if required {
		return 0
	}
	return 1
}

func (f *former) field(schema map[string]any, at merge.Pointer, depth int) field {
	f.count++
	id := strconv.Itoa(f.count)
	one := field{
		// What a broker wrote is no name: a page shows some of its letters as others.
		Pointer: at, ID: "parameter-" + id, Name: "p" + id, Kind: kindJSON,
		Help: textOf(schema, "description"), Limits: limits(schema), Default: f.defaultOf(schema, at),
	}
	if one.Secret = schema["writeOnly"] == true || schema["format"] == "password"; one.Secret {
		one.Default = ""
	}
	if options := optionsOf(schema); len(options) > 0 {
		one.Kind, one.Options = kindChoice, options
		return one
	}
	if isChoosy(schema) {
		return one
	}
	switch kind := typeOf(schema); kind {
	case "string":
		one.Kind, one.Multiline = kindText, isMultiline(schema)
	case kindNumber, kindInteger:
		one.Kind = kind
	case "array":
		items, _ := schema["items"].(map[string]any)
		items = f.followed(items)
		if scalar := typeOf(items); isScalar(scalar) && !isChoosy(items) {
			one.Kind, one.Items = kindLines, scalar
		}
	case "object":
		if properties, _ := schema["properties"].(map[string]any); len(properties) > 0 && depth < deepest {
			one.Kind, one.Fields, one.Default = kindGroup, f.fields(schema, at, depth+1), ""
			if one.Secret {
				keepSecret(one.Fields)
			}
		}
	}
	return one
}

// keepSecret marks what an object that is secret has.
func keepSecret(fields []field) {
	for i := range fields {
		fields[i].Secret, fields[i].Default = true, ""
		keepSecret(fields[i].Fields)
	}
}

// secretsOf are the parameters that are not shown again.
func secretsOf(fields []field) []merge.Pointer {
	var secrets []merge.Pointer
	for i := range fields {
		if fields[i].Secret {
			secrets = append(secrets, fields[i].Pointer)
			continue
		}
		secrets = append(secrets, secretsOf(fields[i].Fields)...)
	}
	return secrets
}

// followed is the schema that a local $ref leads to; where it leads nowhere, or round
// in circles, nothing is known.
func (f *former) followed(schema map[string]any) map[string]any {
	for range mostReferences {
		reference, ok := schema["$ref"].(string)
		if !ok {
			return schema
		}
		pointer, local := strings.CutPrefix(reference, "#")
		if !local {
			return map[string]any{}
		}
		found, _ := merge.Pointer(pointer).Get(f.root)
		schema, _ = found.(map[string]any)
	}
	return map[string]any{}
}
