package osb

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// A reading is a JSON object that is read field by field. Names are told apart by case,
// as encoding/json does not; null is as good as absent; the last of two fields of one
// name counts. The first field of a wrong type is remembered, and read as zero.
type reading struct {
	fields map[string]json.RawMessage
	path   string
	// wrong is shared with the readings inside: "metadata.labels is not an object".
	wrong *string
	// leftOut is set where a field of a wrong type is left out and told here instead, and
	// shared like wrong.
	leftOut *[]LeftOut
}

// byteOrderMark is what brokers on Windows put before a body.
var byteOrderMark = []byte("\xef\xbb\xbf")

// notJSON is what is wrong of a body that is none.
const notJSON = "it is not JSON"

// open begins to read a body.
func open(body []byte) *reading {
	wrong := ""
	r := &reading{wrong: &wrong}
	body = bytes.TrimPrefix(body, byteOrderMark)
	switch err := json.Unmarshal(body, &r.fields); {
	case len(bytes.TrimSpace(body)) == 0:
		wrong = "it is empty"
	case !json.Valid(body):
		wrong = notJSON
	case err != nil || r.fields == nil:
		wrong = "it is not an object"
	}
	return r
}

// values is about how many members the lists and objects of a JSON text have, counted until
// there are more than enough. What is not JSON has any number.
func values(text []byte, enough int) int {
	count, inText := 0, false
	for at := 0; at < len(text) && count <= enough; at++ {
		switch c := text[at]; {
		case inText && c == '\\':
			at++
		case c == '"':
			inText = !inText
		case !inText && (c == ',' || c == '[' || c == '{'):
			count++
		}
	}
	return count
}

// optional reads fields that can be left out: what is wrong with them is told in the list.
func (r *reading) optional(leftOut *[]LeftOut) *reading {
	return &reading{fields: r.fields, path: r.path, wrong: r.wrong, leftOut: leftOut}
}

// blame remembers what is wrong, unless something was before.
func (r *reading) blame(key, what string) {
	if r.leftOut != nil {
		*r.leftOut = append(*r.leftOut, LeftOut{r.path + key, what})
		return
	}
	if *r.wrong == "" {
		*r.wrong = r.path + key + " " + what
	}
}

// field is the value of a field; zero where it is absent, null or of a wrong type.
func field[T any](r *reading, key, what string) T {
	var value, zero T
	raw := r.raw(key)
	if raw == nil {
		return zero
	}
	if err := json.Unmarshal(raw, &value); err != nil {
		r.blame(key, what)
		return zero
	}
	return value
}

// hint is the value of a field that nothing hangs on: zero where it is of a wrong type.
func hint[T any](r *reading, key string) T {
	var value, zero T
	if raw := r.raw(key); raw == nil || json.Unmarshal(raw, &value) != nil {
		return zero
	}
	return value
}

// raw is a field as it came; nil where it is absent or null.
func (r *reading) raw(key string) json.RawMessage {
	if raw := r.fields[key]; string(raw) != "null" {
		return raw
	}
	return nil
}

func (r *reading) text(key string) string {
	return field[string](r, key, "is not a string")
}

func (r *reading) textPointer(key string) *string {
	return field[*string](r, key, "is not a string")
}

func (r *reading) texts(key string) []string {
	return field[[]string](r, key, "is not a list of strings")
}

func (r *reading) flag(key string) bool {
	return field[bool](r, key, "is neither true nor false")
}

func (r *reading) flagPointer(key string) *bool {
	return field[*bool](r, key, "is neither true nor false")
}

func (r *reading) list(key string) []json.RawMessage {
	return field[[]json.RawMessage](r, key, "is not a list")
}

func (r *reading) rawMap(key string) map[string]json.RawMessage {
	return field[map[string]json.RawMessage](r, key, "is not an object")
}

// rawObject is an object as it came, its numbers in their own text.
func (r *reading) rawObject(key string) json.RawMessage {
	if r.rawMap(key) == nil {
		return nil
	}
	return r.raw(key)
}

// inside reads the object in a field; it has no fields where there is none.
func (r *reading) inside(key string) *reading {
	return &reading{fields: r.rawMap(key), path: r.path + key + ".", wrong: r.wrong, leftOut: r.leftOut}
}

// scalars is an object's entries of strings, numbers and booleans, as texts; others
// are left out. nil where there is no object.
func (r *reading) scalars(key string) map[string]string {
	entries := r.rawMap(key)
	if entries == nil {
		return nil
	}
	texts := make(map[string]string, len(entries))
	for name, raw := range entries {
		if text, ok := scalar(raw); ok {
			texts[name] = text
		}
	}
	return texts
}

// whole is a whole number, also where it is written as 60.0 or 6e1; nil for none.
func (r *reading) whole(key string) *int64 {
	raw := r.raw(key)
	if raw == nil {
		return nil
	}
	if number, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return &number
	}
	// Above 2^53 a float no longer knows which whole number it is.
	number := field[float64](r, key, "is not a number")
	if number != math.Trunc(number) || math.Abs(number) > 1<<53 {
		r.blame(key, "is not a whole number")
		return nil
	}
	return new(int64(number))
}

// scalar is the text of a string, a number or a boolean.
func scalar(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || raw[0] == '{' || raw[0] == '[' || string(raw) == "null" {
		return "", false
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	return text, true
}
