package parameters

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/lru"

	"github.com/defaultplan/defaultplan/merge"
)

// How many decoded defaults are kept, and how long a text may be, in bytes, to
// be kept: together they bound the memory.
const (
	keptDefaults = 1024
	keptText     = 8 << 10
)

// Defaults decodes and caches the default parameters of classes and plans: the
// same few serve nearly all requests. The key is their text, so entries are
// never stale.
type Defaults struct{ decoded *lru.Cache }

// NewDefaults returns a cache that holds nothing yet.
func NewDefaults() *Defaults { return &Defaults{decoded: lru.New(keptDefaults)} }

// of returns the decoded object, which is shared: package merge only reads it.
func (d *Defaults) of(object *runtime.RawExtension) (map[string]any, error) {
	text := Raw(object)
	if len(text) == 0 || len(text) > keptText {
		return merge.Decode(text)
	}
	key := string(text)
	if known, ok := d.decoded.Get(key); ok {
		values, _ := known.(map[string]any)
		return values, nil
	}
	values, err := merge.Decode(text)
	if err == nil {
		d.decoded.Add(key, values)
	}
	return values, err
}
