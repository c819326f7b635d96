package merge

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// maxWork and maxPatternWork bound one check: judgements, and pattern instructions over bytes.
	maxWork        = 1 << 18
	maxPatternWork = 1 << 26
	// Strings are compared and measured by the byte, exact numbers computed by the digit: this many are worth a judgement.
	bytesPerJudgement  = 32
	digitsPerJudgement = 16
	// scalarsPerJudgement is how many strings of an enum are worth a judgement.
	scalarsPerJudgement = 16
)

// ownCost is what a subschema asks for at its place, without those that it applies.
func ownCost(s *jsonschema.Schema) cost {
	// Each name that an object lacks is a violation.
	own := cost{paths: 1 + len(s.PatternProperties) + len(s.Required)}
	for _, names := range s.DependentRequired {
		own.paths += len(names)
	}
	for _, dependency := range s.Dependencies {
		names, _ := dependency.([]string)
		own.paths += len(names)
	}
	if s.Enum != nil {
		own.paths += comparing(s.Enum.Values) / scalarsPerJudgement
	}
	if s.Const != nil {
		own.paths += comparing(*s.Const) / scalarsPerJudgement
	}
	if s.Pattern != nil {
		own.steps = patternSize(s.Pattern)
	}
	for pattern := range s.PatternProperties {
		own.steps += patternSize(pattern)
	}
	return own
}

// What a compiled schema keeps in bytes, measured.
const (
	bytesPerSubschema   = 1024
	bytesPerPattern     = 1280
	bytesPerInstruction = 32
	bytesPerByte        = 2
	// Of values that a schema holds, such as a default: an object, and any other one.
	bytesPerObject = 400
	bytesPerValue  = 64
)

// kept is about how many bytes of memory a compiled schema keeps.
func kept(raw []byte, schemas []*jsonschema.Schema) int {
	size := bytesPerByte*len(raw) + bytesPerSubschema*len(schemas) + bytesPerObject*bytes.Count(raw, []byte("{")) + bytesPerValue*bytes.Count(raw, []byte(","))
	for _, s := range schemas {
		if s.Pattern != nil {
			size += bytesPerPattern + bytesPerInstruction*patternSize(s.Pattern)
		}
		for pattern := range s.PatternProperties {
			size += bytesPerPattern + bytesPerInstruction*patternSize(pattern)
		}
	}
	return size
}

// patternSize is maxPattern for a pattern that another engine compiled, as those of the built-in metaschemas may be.
func patternSize(pattern jsonschema.Regexp) int {
	if sized, ok := pattern.(sizedPattern); ok {
		return sized.size
	}
	return maxPattern
}

// comparing is how many scalars an allowed value is compared as; a number counts as a whole judgement and more.
func comparing(value any) int {
	sum := 1
	switch v := value.(type) {
	case json.Number:
		digits, _ := numberWeight(string(v))
		sum = scalarsPerJudgement * (1 + digits/digitsPerJudgement)
	case []any:
		for _, item := range v {
			sum += comparing(item)
		}
	case map[string]any:
		for _, item := range v {
			sum += comparing(item)
		}
	}
	return sum
}

// affordable refuses values that together with the schema's cost could take too long.
func (c cost) affordable(values map[string]any) error {
	m := measure{}
	m.add(values, maxDepth)
	if m.tooDeep {
		at, _ := tooDeep(values, "", maxDepth)
		return tooMuch("the nesting", at)
	}
	if m.huge {
		at, _ := hugeNumber(values, "")
		return tooMuch("the number", at)
	}
	if (m.places+m.bytes/bytesPerJudgement)*c.paths > maxWork || m.bytes*c.steps > maxPatternWork {
		return &SchemaError{Reason: OverBudget, Detail: "the parameters are too many to be checked against this schema"}
	}
	return nil
}

func tooMuch(what string, at Pointer) error {
	return &SchemaError{Reason: OverBudget, Detail: fmt.Sprintf("%s at %q is beyond what can be checked", what, shorten(string(at)))}
}

// A measure is how large values are, as far as a check's time goes.
type measure struct {
	places  int // values at all depths, with weights for long numbers
	bytes   int // of strings and keys
	tooDeep bool
	huge    bool // a number is
}

// add measures a value below which depth more containers may be nested.
func (m *measure) add(value any, depth int) {
	m.places++
	switch v := value.(type) {
	case map[string]any:
		m.tooDeep = m.tooDeep || depth == 0
		for key, item := range v {
			if m.tooDeep {
				return
			}
			m.bytes += len(key)
			m.add(item, depth-1)
		}
	case []any:
		m.tooDeep = m.tooDeep || depth == 0
		for _, item := range v {
			if m.tooDeep {
				return
			}
			m.add(item, depth-1)
		}
	case string:
		m.bytes += len(v)
	case json.Number:
		digits, huge := numberWeight(string(v))
		m.huge = m.huge || huge
		m.places += digits / digitsPerJudgement
	}
}
