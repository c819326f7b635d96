package review

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// escaper writes a key as a segment of a JSON pointer (RFC 6901).
var escaper = strings.NewReplacer("~", "~0", "/", "~1")

// A Patch is a JSON patch of add operations: nothing that a user wrote is ever moved
// or tested, or removed unless it says nothing. An add over a present member replaces
// it. Values may be of any type that encodes as JSON.
type Patch struct {
	ops []operation
}

type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// encode is the patch as it is sent.
func (p *Patch) encode() ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(p.ops); err != nil {
		return nil, fmt.Errorf("cannot encode the patch: %w", err)
	}
	return text.Bytes(), nil
}

// Add puts value at the member that the keys lead to. The parent must exist.
func (p *Patch) Add(value any, keys ...string) { p.AddAt(pointerTo(keys), value) }

// AddAt is Add with a JSON pointer that is escaped already.
func (p *Patch) AddAt(pointer string, value any) {
	p.ops = append(p.ops, operation{Op: "add", Path: pointer, Value: value})
}

// Remove takes away the member that the keys lead to, which is there.
func (p *Patch) Remove(keys ...string) {
	p.ops = append(p.ops, operation{Op: "remove", Path: pointerTo(keys)})
}

// pointerTo is the JSON pointer of keys.
func pointerTo(keys []string) string {
	var path strings.Builder
	for _, key := range keys {
		path.WriteByte('/')
		path.WriteString(escaper.Replace(key))
	}
	return path.String()
}

// AddEntries puts entries into the map of strings that the keys lead to, making
// the map if the object has none.
func (p *Patch) AddEntries(present, entries map[string]string, keys ...string) {
	if present == nil && len(entries) > 0 {
		p.Add(entries, keys...)
		return
	}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		if value, ok := present[key]; !ok || value != entries[key] {
			p.Add(entries[key], append(slices.Clip(keys), key)...)
		}
	}
}
