package parameters

import (
	"maps"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/merge"
)

// Same says that two parameters are the same JSON, however they are written.
func Same(a, b *runtime.RawExtension) bool {
	if string(Raw(a)) == string(Raw(b)) {
		return true
	}
	x, errX := merge.Decode(Raw(a))
	y, errY := merge.Decode(Raw(b))
	return errX == nil && errY == nil && merge.Equal(x, y)
}

// Raw is the JSON of an optional object, empty for none and for null.
func Raw(object *runtime.RawExtension) []byte {
	if object == nil || IsNull(object.Raw) {
		return nil
	}
	return object.Raw
}

// IsNull says that JSON says nothing.
func IsNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }

// Without is a copy of an object that lacks the value at a path; what is not on
// the path is shared.
func Without(values map[string]any, path []string) map[string]any {
	copied := maps.Clone(values)
	if len(path) == 1 {
		delete(copied, path[0])
		return copied
	}
	if next, ok := copied[path[0]].(map[string]any); ok {
		copied[path[0]] = Without(next, path[1:])
	}
	return copied
}
