package merge

import "strings"

// A Pointer is a JSON pointer (RFC 6901): "" is the whole document, "/a~1b/0" the first item of the array at the key "a/b".
type Pointer string

// Both replacers scan once from the left, so "~01" becomes "~1" and never "/".
var (
	escaper   = strings.NewReplacer("~", "~0", "/", "~1")
	unescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// Child is the pointer to the key or index token below p; the token is escaped.
func (p Pointer) Child(token string) Pointer {
	if strings.ContainsAny(token, "~/") {
		token = escaper.Replace(token)
	}
	return p + Pointer("/"+token)
}

// Tokens are the unescaped keys and indexes that p names, outermost first. Text before the first slash is no token.
func (p Pointer) Tokens() []string {
	parts := strings.Split(string(p), "/")[1:]
	for i, part := range parts {
		parts[i] = unescaper.Replace(part)
	}
	return parts
}

// parent is p without its last token; of the root it is the root.
func (p Pointer) parent() Pointer {
	return p[:max(strings.LastIndexByte(string(p), '/'), 0)]
}

// Get returns the value that p leads to through objects, and whether there is one.
func (p Pointer) Get(values map[string]any) (any, bool) {
	var value any = values
	for _, token := range p.Tokens() {
		object, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		if value, ok = object[token]; !ok {
			return nil, false
		}
	}
	return value, true
}

// Set sets the value at a path of keys, of which there is at least one. Objects on the way are made where there is none, and
// replace any other value.
func Set(values map[string]any, path []string, value any) {
	last := len(path) - 1
	for _, key := range path[:last] {
		next, ok := values[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			values[key] = next
		}
		values = next
	}
	values[path[last]] = value
}
