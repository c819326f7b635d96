package merge

import (
	"fmt"
	"maps"
	"slices"
)

// A Layer is one named source of parameters. Values is a decoded JSON object as [Decode] gives it; nil means that the layer
// has nothing to say, which for the user's layer differs from an empty object.
type Layer struct {
	Name   string
	Values map[string]any
}

// A Result is the outcome of combining layers.
type Result struct {
	// Values is the merged object, as it is stored; nil when no layer has any.
	Values map[string]any
	// Origin names the layer of each maximal subtree that one layer gave alone. A key is never the root: "" is not in it.
	Origin map[Pointer]string
	// Removed lists, in order, the defaults that a null of the last layer took away.
	Removed []Pointer
	// Added lists, in order, the maximal subtrees that the last layer lacks.
	Added []Addition
}

// An Addition is a subtree that defaults add to the user's document: an "add" operation of a JSON patch. The pointer is the
// empty one (the whole document) only where the last layer's Values is nil.
type Addition struct {
	Pointer Pointer
	Value   any
}

// Layers combines layers, lowest precedence first; the last one is the user's, whose nulls are kept (see the package's
// table). It takes linear time but for the sorting of merged keys, and is deterministic.
//
// No container of the result belongs to a default layer, so defaults may come from a cache that requests share; subtrees that
// only the user gave are the user's own, not copied. A layer nested more than 64 deep, or a result whose canonical text is
// over 256 KiB, is a *LimitError that names the layer.
func Layers(low ...Layer) (Result, error) {
	if len(low) == 0 {
		return Result{}, nil
	}
	size, err := upperSize(low)
	if err != nil {
		return Result{}, err
	}
	result := combine(low)
	if size <= maxBytes {
		return result, nil
	}
	text, err := Canonical(result.Values)
	if err != nil {
		return Result{}, fmt.Errorf("cannot measure the merged parameters: %w", err)
	}
	if len(text) > maxBytes {
		return Result{}, largest(low)
	}
	return result, nil
}

// OriginOf names the layer that gave the value at p, which may lie inside one of Origin's subtrees; "" where several did, or
// none.
func (r Result) OriginOf(p Pointer) string {
	for ; p != ""; p = p.parent() {
		if layer, ok := r.Origin[p]; ok {
			return layer
		}
	}
	return ""
}

// Sent is what a broker is sent: Values without the keys that a null took away. It shares containers with Values.
func (r Result) Sent() map[string]any {
	return Without(r.Values, r.Removed)
}

// Without returns values without the keys at removed, where these still hold a null: a key that has got another value since
// is the user's and stays. Pointers that lead nowhere are passed over. The objects on the way are copied, each once, the rest
// is shared with values; values itself is returned if nothing is to be left out.
func Without(values map[string]any, removed []Pointer) map[string]any {
	return without(values, paths(removed), func(value any) bool { return value == nil })
}

// Omit returns values without the keys at pointers, whatever these hold; else it is as [Without].
func Omit(values map[string]any, pointers []Pointer) map[string]any {
	return without(values, paths(pointers), func(any) bool { return true })
}

// paths are the tokens of each pointer that has some.
func paths(pointers []Pointer) [][]string {
	all := make([][]string, 0, len(pointers))
	for _, p := range pointers {
		if tokens := p.Tokens(); len(tokens) > 0 {
			all = append(all, tokens)
		}
	}
	return all
}

// without leaves out the keys at paths, each of which has at least one token, that hold what goes.
func without(values map[string]any, paths [][]string, goes func(any) bool) map[string]any {
	if len(paths) == 0 {
		return values
	}
	kept := maps.Clone(values)
	below := map[string][][]string{}
	for _, path := range paths {
		key := path[0]
		value, present := values[key]
		if present && len(path) == 1 && goes(value) {
			delete(kept, key)
		}
		if len(path) > 1 {
			below[key] = append(below[key], path[1:])
		}
	}
	for key, rest := range below {
		if object, ok := kept[key].(map[string]any); ok {
			kept[key] = without(object, rest, goes)
		}
	}
	return kept
}

// sortedKeys are the keys of m in byte order: what makes every list here the same in each run.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
