package ui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
	"github.com/defaultplan/defaultplan/merge"
)

var (
	wholeNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	anyNumber   = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
)

// A filled form reads what was typed. It repeats nothing of it in a problem.
type filled struct {
	values   url.Values
	problems int
}

// object is what the fields of an object say, without those that say nothing; nil if
// none says anything. The fields keep what was typed, and what is wrong with it.
func (f *filled) object(fields []field) map[string]any {
	var object map[string]any
	for i := range fields {
		one := &fields[i]
		value, given := f.value(one)
		if !given {
			continue
		}
		if object == nil {
			object = map[string]any{}
		}
		tokens := one.Pointer.Tokens()
		object[tokens[len(tokens)-1]] = value
	}
	return object
}

// value is what one field says; given is false where it says nothing, or nothing right.
func (f *filled) value(one *field) (value any, given bool) {
	if one.Kind == kindGroup {
		group := f.object(one.Fields)
		return group, group != nil
	}
	typed := strings.ReplaceAll(f.values.Get(one.Name), "\r\n", "\n")
	if one.Kind != kindText && one.Kind != kindLines {
		typed = strings.TrimSpace(typed)
	}
	one.Value = typed
	// What is typed again is typed into the same.
	one.Multiline = one.Multiline || one.Kind == kindText && strings.Contains(typed, "\n")
	if one.Secret {
		one.Value = ""
	}
	for i := range one.Options {
		one.Options[i].Chosen = one.Options[i].Value == typed && !one.Secret
	}
	if typed == "" {
		return nil, false
	}
	value, one.Problem = read(one, typed)
	if list, is := value.([]any); is && one.Kind == kindLines && len(list) == 0 && one.Problem == "" {
		return nil, false
	}
	if one.Problem == "" {
		one.Problem = cmp.Or(unkept(value), unkept(string(one.Pointer)))
	}
	if one.Problem != "" {
		f.problems++
		return nil, false
	}
	return value, true
}

// read reads what was typed into a field.
func read(one *field, typed string) (value any, problem string) {
	switch one.Kind {
	case kindChoice:
		if !slices.ContainsFunc(one.Options, func(o option) bool { return o.Value == typed }) {
			return nil, "This is none of the values to choose from."
		}
		return readJSON(typed)
	case kindLines:
		var list []any
		for line := range strings.SplitSeq(typed, "\n") {
			if one.Items != "string" {
				line = strings.TrimSpace(line)
			}
			if line == "" {
				continue
			}
			item, problem := scalar(one.Items, line)
			if problem != "" {
				return nil, problem
			}
			list = append(list, item)
		}
		return list, ""
	case kindJSON:
		return readJSON(typed)
	}
	return scalar(one.Kind, typed)
}

// scalar reads one value of a kind.
func scalar(kind, typed string) (value any, problem string) {
	switch kind {
	case kindInteger:
		if !wholeNumber.MatchString(typed) {
			return nil, "This is no whole number, such as 5."
		}
		return json.Number(typed), ""
	case kindNumber:
		if !anyNumber.MatchString(typed) {
			return nil, "This is no number, such as 1.5."
		}
		return json.Number(typed), ""
	case "boolean":
		if typed != "true" && typed != "false" {
			return nil, "This is neither true nor false."
		}
		return typed == "true", ""
	}
	return typed, ""
}

// readJSON reads any JSON value, as strictly as admission does.
func readJSON(typed string) (value any, problem string) {
	wrapped, err := merge.Decode([]byte(`{"":` + typed + `}`))
	if value, is := wrapped[""]; err == nil && is && len(wrapped) == 1 {
		return value, ""
	}
	return nil, `This is no JSON value, such as {"size": 5}, or a key is there twice.`
}

// unkept says why a value would not be what was typed, once it was copied and applied.
func unkept(value any) (problem string) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if problem := unkept(key); problem != "" {
				return problem
			}
			if problem := unkept(inner); problem != "" {
				return problem
			}
		}
	case []any:
		for _, item := range v {
			if problem := unkept(item); problem != "" {
				return problem
			}
		}
	case json.Number:
		if !kept(v) {
			return "There is a number that is too large or too long to be kept as it is: a text can hold it."
		}
	case string:
		if !utf8.ValidString(v) {
			return "There is something that is no text."
		}
		hidden := func(r rune) bool { return r != '\n' && r != '\t' && !termtext.Rune(r) }
		if at := strings.IndexFunc(v, hidden); at >= 0 {
			return fmt.Sprintf("There is a character that no page shows (%U): what is copied from here would not be the same.", []rune(v[at:])[0])
		}
	}
	return ""
}
