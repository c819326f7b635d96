package controller

import (
	"crypto/sha256"
	"sync"

	"k8s.io/utils/lru"

	"github.com/defaultplan/defaultplan/merge"
)

// keptSchemas is how many compiled schemas are kept, of up to some MiB each.
const keptSchemas = 16

// schemas compiles plans' schemas, one at a time, and keeps those that were used last: objects are looked at again and
// again, and a schema may be made to take long.
type schemas struct {
	mu   sync.Mutex
	kept *lru.Cache
}

func newSchemas() *schemas { return &schemas{kept: lru.New(keptSchemas)} }

// compile is the compiled form of a schema; nil of one that cannot be used.
func (s *schemas) compile(text []byte) *merge.Schema {
	digest := sha256.Sum256(text)
	if known, found := s.kept.Get(digest); found { // without waiting for the others
		compiled, _ := known.(*merge.Schema)
		return compiled
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, found := s.kept.Get(digest); found {
		compiled, _ := known.(*merge.Schema)
		return compiled
	}
	compiled, err := merge.Compile(text)
	if err != nil {
		compiled = nil
	}
	s.kept.Add(digest, compiled)
	return compiled
}
