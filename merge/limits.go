package merge

import (
	"encoding/json"
	"fmt"
	"strconv"
)

const (
	// maxDepth is how many objects and arrays may be nested, the outermost counting as one.
	maxDepth = 64
	// maxBytes is how long the canonical text of merged values may be.
	maxBytes = 256 << 10
	// maxRaw bounds the text that is decoded at all. Spaces and escapes make it longer than the canonical text, but not by
	// this much: what the API server hands on has neither.
	maxRaw = 4 * maxBytes
	// maxPath is how many bytes the keys on the way to a value may have together: what is said of a value has its pointer,
	// and there may be 100,000 of them below one key.
	maxPath = 2 << 10
	// maxShown bounds what a message shows of a pointer or of a foreign text.
	maxShown = 200
)

// The quantities that a [LimitError] speaks of.
const (
	quantityDepth      = "depth"
	quantitySize       = "size"
	quantityPath       = "path"
	quantityTransforms = "transforms"
)

// A LimitError says that a layer, or the merged result, is nested too deeply or too large, or that merged transforms are too
// many.
type LimitError struct {
	// Layer is the layer to change; empty where only one document was read.
	Layer string
	// Pointer is where: the first container that is too deep, or the largest key of the largest layer; empty of transforms and
	// paths.
	Pointer Pointer
	// Quantity is "depth" (nested containers), "size" (bytes), "path" (bytes of the keys on the way to a value) or "transforms"
	// (of a binding's Secret).
	Quantity string
	// Max is the largest Quantity that is allowed.
	Max int
}

// Error says what is too much, where, and what is allowed.
func (e *LimitError) Error() string {
	if e.Quantity == quantityTransforms {
		return fmt.Sprintf("merged secret transforms are too many, most of them from layer %q: at most %d are allowed; remove some", e.Layer, e.Max)
	}
	whose := "parameters"
	if e.Layer != "" {
		whose = "parameters of layer " + strconv.Quote(e.Layer)
	}
	if e.Quantity == quantityDepth {
		return fmt.Sprintf("%s are nested too deeply at %q: at most %d objects and arrays may be nested; flatten them",
			whose, shorten(string(e.Pointer)), e.Max)
	}
	if e.Quantity == quantityPath {
		return fmt.Sprintf("%s have keys that are too long: at most %d bytes are allowed for all keys on the way to one value; shorten them", whose, e.Max)
	}
	if e.Pointer == "" {
		return fmt.Sprintf("%s are too large: at most %d bytes are allowed; make them smaller", whose, e.Max)
	}
	return fmt.Sprintf("merged parameters are too large, most of it from %s at %q: at most %d bytes are allowed; make them smaller",
		whose, shorten(string(e.Pointer)), e.Max)
}

// upperSize is no less than the length of the canonical text of any result that layers can have. It is cheaper than that
// text, which only values near the limit are worth.
func upperSize(layers []Layer) (int, error) {
	total := 0
	for _, layer := range layers {
		size, ok := upper(layer.Values, maxDepth)
		if !ok {
			at, _ := tooDeep(layer.Values, "", maxDepth)
			return 0, &LimitError{Layer: layer.Name, Pointer: at, Quantity: quantityDepth, Max: maxDepth}
		}
		total += size
	}
	return total, nil
}

// upper bounds the length of a value's canonical text; false if more than depth containers are nested.
func upper(value any, depth int) (int, bool) {
	switch v := value.(type) {
	case map[string]any:
		size, ok := 2, depth > 0
		for key, item := range v {
			if !ok {
				break
			}
			var inner int
			inner, ok = upper(item, depth-1)
			size += upperText(key) + inner + 2
		}
		return size, ok
	case []any:
		size, ok := 2, depth > 0
		for _, item := range v {
			if !ok {
				break
			}
			var inner int
			inner, ok = upper(item, depth-1)
			size += inner + 1
		}
		return size, ok
	default:
		return upperScalar(value), true
	}
}

func upperScalar(value any) int {
	switch v := value.(type) {
	case string:
		return upperText(v)
	case json.Number:
		return len(v)
	default:
		return 32 // null, a boolean or a number of Go
	}
}

// upperText allows for every byte to be written as \u0000, with the quotes.
func upperText(s string) int {
	return 6*len(s) + 2
}

// tooDeep finds the first container, in the order of keys, below which nothing more may be nested.
func tooDeep(value any, at Pointer, depth int) (Pointer, bool) {
	switch v := value.(type) {
	case map[string]any:
		if depth == 0 {
			return at, true
		}
		for _, key := range sortedKeys(v) {
			if found, ok := tooDeep(v[key], at.Child(key), depth-1); ok {
				return found, true
			}
		}
	case []any:
		if depth == 0 {
			return at, true
		}
		for i, item := range v {
			if found, ok := tooDeep(item, at.Child(strconv.Itoa(i)), depth-1); ok {
				return found, true
			}
		}
	}
	return "", false
}

// largest blames the largest key of the largest layer for a result that is too large.
func largest(layers []Layer) *LimitError {
	worst, most := &LimitError{Quantity: quantitySize, Max: maxBytes}, -1
	for _, layer := range layers {
		if size := length(layer.Values); size > most {
			worst.Layer, worst.Pointer, most = layer.Name, largestKey(layer.Values), size
		}
	}
	return worst
}

func largestKey(values map[string]any) Pointer {
	at, most := Pointer(""), -1
	for _, key := range sortedKeys(values) {
		if size := len(key) + length(values[key]); size > most {
			at, most = Pointer("").Child(key), size
		}
	}
	return at
}

// length is that of the canonical text; a value without one has been reported before it is measured.
func length(value any) int {
	text, err := Canonical(value)
	if err != nil {
		return 0
	}
	return len(text)
}

// shorten keeps a text that comes from outside from filling a message.
func shorten(s string) string {
	if len(s) <= maxShown {
		return s
	}
	cut := maxShown
	for cut > 0 && s[cut]&0xC0 == 0x80 { // not in the middle of a rune
		cut--
	}
	return s[:cut] + "…"
}
