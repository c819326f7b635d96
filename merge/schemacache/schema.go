package schemacache

import (
	"errors"
	"sync/atomic"

	"github.com/defaultplan/defaultplan/merge"
)

// A Schema is a compiled schema, or why it cannot be used.
type Schema struct {
	schema *merge.Schema
	err    *merge.SchemaError
	// halved says that the partial form was compiled, too.
	halved atomic.Bool
}

// Unusable is why a schema cannot be used, nil where it can.
func (s *Schema) Unusable() *merge.SchemaError { return s.err }

// Check holds what a broker would be sent against a schema. The error says why the schema
// cannot be used.
func (s *Schema) Check(sent map[string]any) (merge.Report, *merge.SchemaError) {
	if s.err != nil {
		return merge.Report{}, s.err
	}
	if sent == nil {
		sent = map[string]any{}
	}
	report, err := s.schema.Check(sent)
	return report, unusable(err)
}

// size is about how many bytes of memory a schema keeps.
func (s *Schema) size() int64 {
	const unusable = 1 << 10
	if s.schema == nil {
		return unusable
	}
	return int64(s.schema.Size())
}

// compile never panics: it runs for several requests, and outside of each.
func compile(text []byte) (made *Schema) {
	defer func() {
		if recover() != nil {
			made = &Schema{err: &merge.SchemaError{Reason: merge.DoesNotCompile, Detail: "for a reason that is not known"}}
		}
	}()
	schema, err := merge.Compile(text)
	return &Schema{schema: schema, err: unusable(err)}
}

// unusable is the reason of an error of package merge, nil for none.
func unusable(err error) *merge.SchemaError {
	var reason *merge.SchemaError
	if err != nil && !errors.As(err, &reason) {
		return &merge.SchemaError{Reason: merge.DoesNotCompile, Detail: "for a reason that is not known"}
	}
	return reason
}
