package parameters

import (
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
