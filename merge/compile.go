package merge

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// maxSchemaBytes is what OSB allows for one schema.
	maxSchemaBytes = 64 << 10
	// maxSchemaDepth bounds the compiler's recursion; each level of values takes about two of schema.
	maxSchemaDepth = 2*maxDepth + 32
	// maxSubschemas and maxReferences bound the compiler's time, which is quadratic: it looks through all subschemas for each
	// one, and copies its books for a reference into a place that is no subschema.
	maxSubschemas = 4096
	maxReferences = 500
	// maxNodes bounds the values of a document, at all depths: each may become some of what is kept.
	maxNodes = 10_000
	// maxPattern bounds the instructions of one compiled pattern. "a{1000}" has that many; nested repeats would have millions.
	maxPattern = 2000
	// maxPatternText bounds the text of one, in bytes.
	maxPatternText = 8 << 10
	// maxPatterns bounds those of all patterns together: a schema has room for thousands of "a{1000}".
	maxPatterns = 20_000
	// maxDigits and maxExponent bound numbers: the arithmetic is exact, and 1e1000000 would be a million digits.
	maxDigits   = 400
	maxExponent = 400
	// documentURL is where the compiler believes the document to be. No loader knows its scheme.
	documentBase = "plan:///"
	documentURL  = documentBase + "schema.json"
)

// errOutside is what the loader answers to everything.
var errOutside = errors.New("references outside the document are never followed")

// A closedLoader loads nothing. The drafts' own metaschemas are built into the compiler and never asked for.
type closedLoader struct{}

// Load refuses.
func (closedLoader) Load(string) (any, error) { return nil, errOutside }

// compile reads and compiles a schema. Every error is a *SchemaError.
func compile(raw []byte) (*jsonschema.Schema, error) {
	if len(raw) > maxSchemaBytes {
		return nil, &SchemaError{Reason: TooLarge, Detail: fmt.Sprintf("%d bytes, at most %d are allowed", len(raw), maxSchemaBytes)}
	}
	if scan(raw, maxSchemaDepth).depth > maxSchemaDepth {
		return nil, &SchemaError{Reason: OverBudget, Detail: fmt.Sprintf("nested more than %d deep", maxSchemaDepth)}
	}
	document, err := decodeNumbers(raw)
	if err != nil {
		return nil, &SchemaError{Reason: DoesNotCompile, Detail: err.Error()}
	}
	if at, huge := hugeNumber(document, ""); huge {
		return nil, &SchemaError{Reason: DoesNotCompile, Detail: fmt.Sprintf("the number at %q is too long", shorten(string(at)))}
	}
	if c := (census{}); !c.add(document) {
		return nil, &SchemaError{Reason: OverBudget, Detail: fmt.Sprintf("more than %d subschemas, %d references, %d values, or %d instructions of patterns",
			maxSubschemas, maxReferences, maxNodes, maxPatterns)}
	}
	var compiled *jsonschema.Schema
	err = contained(func() error {
		compiler := jsonschema.NewCompiler()
		compiler.DefaultDraft(jsonschema.Draft4)
		compiler.UseLoader(closedLoader{})
		compiler.UseRegexpEngine(compilePattern)
		if err := compiler.AddResource(documentURL, document); err != nil {
			return err
		}
		compiled, err = compiler.Compile(documentURL)
		return err
	})
	if err != nil {
		return nil, refused(err)
	}
	return compiled, nil
}

// refused sorts the compiler's errors into ours. Its own text may run to many lines in changing order.
func refused(err error) *SchemaError {
	if load, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		return &SchemaError{Reason: OutsideReference, Detail: shorten(strings.TrimPrefix(load.URL, documentBase))}
	}
	var invalid *jsonschema.ValidationError
	var wrapped *jsonschema.SchemaValidationError
	if errors.As(err, &wrapped) && errors.As(wrapped.Err, &invalid) {
		first := report(invalid).Violations[0]
		return &SchemaError{Reason: DoesNotCompile, Detail: fmt.Sprintf("%q %s", shorten(string(first.Pointer)), first.Message)}
	}
	detail, _, _ := strings.Cut(err.Error(), "\n")
	return &SchemaError{Reason: DoesNotCompile, Detail: shorten(strings.ReplaceAll(detail, documentURL, ""))}
}

// contained runs third-party code over input that a stranger wrote, and turns a panic in it into an error: the check is then
// skipped like that of any other schema that cannot be used.
func contained(run func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the schema library cannot handle this schema")
		}
	}()
	return run()
}

// compilePattern is the compiler's regular expression engine: RE2, whose time is bounded by program times text, with a bound
// for the program. The bound is checked on the syntax tree, before repeats are unrolled.
func compilePattern(pattern string) (jsonschema.Regexp, error) {
	size := programSize(pattern)
	if size > maxPattern {
		return nil, fmt.Errorf("a pattern may have at most %d instructions once its repeats are unrolled", maxPattern)
	}
	compiled, err := regexp.Compile(pattern)
	if err != nil { // what syntax.Parse refused, too
		return nil, errors.New("not a regular expression of the RE2 syntax")
	}
	return sizedPattern{Regexp: compiled, size: size}, nil
}

// programSize is about how many instructions a pattern compiles to; 0 if it does not. A text of this length is not parsed:
// each "\\pL" of it would have a thousand.
func programSize(pattern string) int {
	if len(pattern) > maxPatternText {
		return ceiling
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	return instructions(tree)
}

// A sizedPattern is a compiled pattern that knows how many instructions it has, about.
type sizedPattern struct {
	*regexp.Regexp
	size int
}

// instructions is about how many a pattern compiles to, saturating.
func instructions(tree *syntax.Regexp) int {
	sum := max(1, len(tree.Rune))
	for _, sub := range tree.Sub {
		sum = min(sum+instructions(sub), ceiling)
	}
	if tree.Op == syntax.OpRepeat {
		sum = min(sum*max(tree.Min, tree.Max, 1), ceiling)
	}
	return sum
}

// hugeNumber finds a number whose exact value would be expensive to compute with.
func hugeNumber(value any, at Pointer) (Pointer, bool) {
	switch v := value.(type) {
	case json.Number:
		_, huge := numberWeight(string(v))
		return at, huge
	case map[string]any:
		for _, key := range sortedKeys(v) {
			if found, huge := hugeNumber(v[key], at.Child(key)); huge {
				return found, true
			}
		}
	case []any:
		for i, item := range v {
			if found, huge := hugeNumber(item, at.Child(strconv.Itoa(i))); huge {
				return found, true
			}
		}
	}
	return "", false
}

// A census counts what the compiler may take for subschemas and references.
type census struct {
	subschemas int
	references int
	nodes      int
	// instructions are those of what may be patterns, together.
	instructions int
}

// add counts a value with all below it; false if there is too much for the compiler.
func (c *census) add(value any) bool {
	c.nodes++
	switch v := value.(type) {
	case map[string]any:
		c.subschemas++
		for key, item := range v {
			if key == "$ref" || key == "$recursiveRef" || key == "$dynamicRef" {
				c.references++
			}
			if pattern, ok := item.(string); ok && key == "pattern" {
				c.pattern(pattern)
			}
			if named, ok := item.(map[string]any); ok && key == "patternProperties" {
				for pattern := range named {
					c.pattern(pattern)
				}
			}
			c.add(item)
		}
	case []any:
		for _, item := range v {
			c.add(item)
		}
	case bool:
		c.subschemas++
	}
	return c.subschemas <= maxSubschemas && c.references <= maxReferences && c.nodes <= maxNodes && c.instructions <= maxPatterns
}

func (c *census) pattern(text string) {
	c.instructions = min(c.instructions+programSize(text), ceiling)
}

// numberWeight is about how many digits the exact value of a number has, and whether these are too many.
func numberWeight(text string) (int, bool) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	power := 0
	if exponent != "" {
		n, err := strconv.Atoi(exponent)
		if err != nil {
			return ceiling, true
		}
		power = max(n, -n)
	}
	return len(mantissa) + power, len(mantissa) > maxDigits || power > maxExponent
}
