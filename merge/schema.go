package merge

import (
	"errors"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A Reason is why a schema cannot be used to check values.
type Reason string

// The reasons for which a schema is left out of the check.
const (
	// TooLarge: the text is over 64 KiB, what OSB allows.
	TooLarge Reason = "too large"
	// OverBudget: checking could take too long, whatever the values are or for these values.
	OverBudget Reason = "over budget"
	// DoesNotCompile: not JSON, not a schema of its draft, or with a pattern that is not RE2 or repeats too much.
	DoesNotCompile Reason = "does not compile"
	// OutsideReference: a $ref or $schema leads out of the document. It is never followed.
	OutsideReference Reason = "references outside the document"
)

// A SchemaError says why a schema is not used. The check is skipped then, with a warning: it is the plan's fault, not the
// user's.
type SchemaError struct {
	Reason Reason
	// Detail is where and what, as far as that is known; it comes from the schema, never from values.
	Detail string
}

// Error says why, and where in the schema if that is known.
func (e *SchemaError) Error() string {
	return fmt.Sprintf("cannot use the JSON schema: %s: %s", e.Reason, e.Detail)
}

// A Schema is a compiled JSON schema. It is immutable and safe for concurrent use.
type Schema struct {
	compiled *jsonschema.Schema
	cost     cost
	size     int
	partial  func() (*Schema, error)
}

// Size is about how many bytes of memory the schema keeps, with its partial form.
func (s *Schema) Size() int { return 2 * s.size }

// Compile reads a JSON schema; without a $schema it is of draft 4, as OSB has it. Nothing outside the text is read. How long
// a check can take is bounded here, before there are values. Every error is a *SchemaError.
func Compile(raw []byte) (*Schema, error) {
	schema, err := newSchema(raw, func([]*jsonschema.Schema) {})
	if err != nil {
		return nil, err
	}
	schema.partial = sync.OnceValues(func() (*Schema, error) { return newSchema(raw, relax) })
	return schema, nil
}

// newSchema compiles raw and lets edit change its subschemas before their cost is counted.
func newSchema(raw []byte, edit func([]*jsonschema.Schema)) (*Schema, error) {
	compiled, err := compile(raw)
	if err != nil {
		return nil, err
	}
	all := reachable(compiled)
	edit(all)
	cost, err := count(compiled)
	if err != nil {
		return nil, err
	}
	schema := &Schema{compiled: compiled, cost: cost, size: kept(raw, all)}
	schema.partial = func() (*Schema, error) { return schema, nil }
	return schema, nil
}

// Partial is the same schema for values that are not complete yet, because some come from a Secret that admission does not
// read: whatever only the whole can satisfy is left out (required, minProperties, dependencies, every combinator). It is
// compiled at the first call; the partial schema of a partial schema is itself. The error is a *SchemaError.
func (s *Schema) Partial() (*Schema, error) {
	return s.partial()
}

// A Report is the outcome of a check.
type Report struct {
	// Violations are the first eight, sorted by pointer, then keyword.
	Violations []Violation
	// Total counts all violations.
	Total int
	// Places are where there are any: the first 256, sorted, each once.
	Places []Pointer
}

// A Violation is one place where values break the schema. Its texts never hold the offending value.
type Violation struct {
	// Pointer is the place; of a missing property, where it would be.
	Pointer Pointer
	// Keyword is the schema's keyword that is broken, such as "enum".
	Keyword string
	// Message says what is allowed there, and continues a sentence that names the place.
	Message string
}

// Check judges values. The error is a *SchemaError with reason OverBudget, for values that are too many for this schema to be
// checked in bounded time.
func (s *Schema) Check(values map[string]any) (Report, error) {
	if err := s.cost.affordable(values); err != nil {
		return Report{}, err
	}
	err := contained(func() error { return s.compiled.Validate(values) })
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return report(invalid), nil
	}
	if err != nil {
		return Report{}, &SchemaError{Reason: OverBudget, Detail: err.Error()}
	}
	return Report{}, nil
}
