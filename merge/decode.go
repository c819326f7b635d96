package merge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// Decode reads one JSON object, strictly: nothing may follow it, no key may appear twice in one object, at most 64
// containers may be nested, and the keys on the way to a value may have at most 2 KiB together. Numbers are json.Number and
// keep their text. An empty text and null, which typed clients send for "none", give a nil map. Errors name the place, but for
// keys that are too long, and never a value; too deep, too long and too large are a *LimitError.
func Decode(raw []byte) (map[string]any, error) {
	text := bytes.Trim(raw, " \t\r\n") // JSON's white space: no other
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	if len(raw) > maxRaw {
		return nil, &LimitError{Quantity: quantitySize, Max: maxBytes}
	}
	if text[0] != '{' {
		return nil, errors.New("cannot decode parameters: they must be a JSON object")
	}
	shape := scan(raw, maxDepth)
	if shape.path > maxPath {
		return nil, &LimitError{Quantity: quantityPath, Max: maxPath}
	}
	if shape.depth > maxDepth {
		return nil, &LimitError{Pointer: firstOffence(raw, maxDepth), Quantity: quantityDepth, Max: maxDepth}
	}
	value, err := decodeNumbers(raw)
	if err != nil {
		return nil, fmt.Errorf("cannot decode parameters: %w", err)
	}
	values, _ := value.(map[string]any)
	if members(values) != shape.members {
		at := firstOffence(raw, maxDepth)
		return nil, fmt.Errorf("cannot decode parameters: key %q appears twice; keep one of the two", shorten(string(at)))
	}
	return values, nil
}

// decodeNumbers reads one JSON value that nothing follows.
func decodeNumbers(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, malformed(err, int64(len(text)))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("more text follows the JSON value, at byte %d", decoder.InputOffset())
	}
	return value, nil
}

// malformed keeps the place of a decoding error and drops its text, which quotes the input.
func malformed(err error, end int64) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		end = syntax.Offset
	}
	return fmt.Errorf("not valid JSON at byte %d", end)
}

// A shape is what a scan of the text tells before anything is decoded.
type shape struct {
	depth   int // the deepest nesting
	members int // the members of all objects together, duplicates counted: in JSON, the colons outside of strings
	path    int // the bytes of the keys, without escapes, on the way to one value, where they are the most
}

// scan counts in one pass, without recursion, so that deeply nested input costs no stack, and ends where the text is nested more
// than most deep. It means something only for text that is valid JSON.
func scan(text []byte, most int) shape {
	var s shape
	paths := make([]int, 1, 16) // by open container, the bytes of the keys to the value at hand
	quoted, last := false, 0
	for i := 0; i < len(text); i++ {
		c, top := text[i], len(paths)-1
		switch {
		case quoted && c == '\\':
			skipped, bytes := escaped(text[i+1:])
			i, last = i+skipped, last+bytes
		case c == '"':
			if quoted = !quoted; quoted {
				last = 0
			}
		case quoted:
			last++
		case c == '{' || c == '[':
			if s.depth = max(s.depth, top+1); s.depth > most {
				return s
			}
			paths = append(paths, paths[top])
		case top == 0:
		case c == '}' || c == ']':
			paths = paths[:top]
		case c == ':':
			s.members++
			paths[top] = paths[top-1] + last
			s.path = max(s.path, paths[top])
		}
	}
	return s
}

// escaped is how long an escape is after its backslash, and how many bytes it stands for; of a surrogate, half of the pair's.
func escaped(text []byte) (length, bytes int) {
	const digits = 4
	if len(text) <= digits || text[0] != 'u' {
		return 1, 1
	}
	code, err := strconv.ParseUint(string(text[1:1+digits]), 16, 16)
	if err != nil {
		return 1, 1
	}
	bytes = utf8.RuneLen(rune(code))
	if bytes < 0 {
		bytes = 2
	}
	return 1 + digits, bytes
}

// members counts the members of all objects in a decoded value.
func members(value any) int {
	count := 0
	switch v := value.(type) {
	case map[string]any:
		count = len(v)
		for _, item := range v {
			count += members(item)
		}
	case []any:
		for _, item := range v {
			count += members(item)
		}
	}
	return count
}

// A frame is one open container of the token walk.
type frame struct {
	at    Pointer
	seen  map[string]bool // keys so far; nil for an array
	key   string
	isKey bool // the next token of an object is a key
	index int
}

// next is the pointer to the value that comes next in the container.
func (f *frame) next() Pointer {
	if f.seen == nil {
		f.index++
		return f.at.Child(strconv.Itoa(f.index - 1))
	}
	f.isKey = true
	return f.at.Child(f.key)
}

// firstOffence walks the tokens again, only after a scan found something wrong, to tell where: the first container that is
// more than depth deep or the first key that appears twice. It is "" where the text breaks off before.
func firstOffence(text []byte, depth int) Pointer {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	stack := []*frame{{}}
	for {
		token, err := decoder.Token()
		if err != nil {
			return ""
		}
		top := stack[len(stack)-1]
		if token == json.Delim('}') || token == json.Delim(']') {
			stack = stack[:len(stack)-1]
			continue
		}
		if key, ok := token.(string); ok && top.isKey {
			if top.seen[key] {
				return top.at.Child(key)
			}
			top.seen[key], top.key, top.isKey = true, key, false
			continue
		}
		at := Pointer("")
		if len(stack) > 1 {
			at = top.next()
		}
		opened := open(token, at)
		if opened == nil {
			continue
		}
		if len(stack) > depth {
			return at
		}
		stack = append(stack, opened)
	}
}

// open is the frame of a container that begins with token, or nil for a scalar.
func open(token json.Token, at Pointer) *frame {
	switch token {
	case json.Delim('{'):
		return &frame{at: at, seen: map[string]bool{}, isKey: true}
	case json.Delim('['):
		return &frame{at: at}
	default:
		return nil
	}
}
