package merge

import (
	"go/build"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The guards against what the schema library may do cannot be reached from outside: no input is known that makes it panic.

func TestContainedPanic(t *testing.T) {
	t.Parallel()
	err := contained(func() error { panic("hunter2") })
	require.EqualError(t, err, "the schema library cannot handle this schema", "the panic's text may hold a value")

	broken := &Schema{compiled: nil, cost: cost{paths: 1}}
	_, err = broken.Check(map[string]any{"a": "hunter2"})
	var refused *SchemaError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, OverBudget, refused.Reason)
}

func TestUnknownKindOfViolation(t *testing.T) {
	t.Parallel()
	got := report(&jsonschema.ValidationError{
		InstanceLocation: []string{"a/b"},
		ErrorKind:        &kind.ContentMediaType{Got: []byte("hunter2"), Want: "x"},
	})
	want := Report{Violations: []Violation{{Pointer: "/a~1b", Keyword: "contentMediaType", Message: "does not satisfy the schema"}}, Total: 1, Places: []Pointer{"/a~1b"}}
	assert.Equal(t, want, got)
}

func TestPatternOfAnotherEngine(t *testing.T) {
	t.Parallel()
	assert.Equal(t, maxPattern, patternSize(regexp.MustCompile("a")), "counted as the largest that ours allows")
}

func TestRefusedWithManyLines(t *testing.T) {
	t.Parallel()
	got := refused(&jsonschema.SchemaValidationError{URL: documentURL, Err: &jsonschema.InvalidJsonPointerError{URL: documentURL + "\nmore"}})
	assert.NotContains(t, got.Detail, "\n")
	assert.NotContains(t, got.Detail, documentURL)
}

// TestImportsArePure reads what this package imports by itself: nothing that waits, talks, logs or tells the time.
func TestImportsArePure(t *testing.T) {
	t.Parallel()
	pkg, err := build.ImportDir(".", 0)
	require.NoError(t, err)
	for _, path := range pkg.Imports {
		for _, impure := range []string{"context", "log", "log/slog", "net", "net/http", "os", "time", "math/rand"} {
			assert.NotEqual(t, impure, path)
		}
		assert.NotContains(t, path, "k8s.io/", "nor anything of Kubernetes")
	}
}

// A schema of the size that OSB allows keeps no more than this: 62 KB of large patterns kept 96 MB and took seconds.
func TestSchemasAreBoundedAsAWhole(t *testing.T) {
	t.Parallel()
	many := func(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	for name, tc := range map[string]struct{ schema, want string }{
		"Patterns":    {schema: `{"allOf":[` + many(2_000, `{"pattern":"a{900}"}`) + `]}`, want: "20000 instructions of patterns"},
		"MostOfThem":  {schema: `{"allOf":[` + many(11, `{"pattern":"a{900}"}`) + `]}`},
		"SomeOfThem":  {schema: `{"properties":{"a":{"pattern":"a{900}"},"b":{"pattern":"b{900}"}}}`},
		"Values":      {schema: `{"enum":[` + numbers(10_000) + `]}`, want: "10000 values"},
		"LongPattern": {schema: `{"pattern":"` + strings.Repeat(`\\pL`, 3_000) + `"}`, want: "20000 instructions of patterns"},
		"OnePattern":  {schema: `{"pattern":"(?:a{1000}){3}"}`, want: "of at most 2000 instructions"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.LessOrEqual(t, len(tc.schema), maxSchemaBytes)
			_, err := Compile([]byte(tc.schema))
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.want)
		})
	}
}

// numbers are the numbers from 1 on, as the items of an array.
func numbers(n int) string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = strconv.Itoa(i + 1)
	}
	return strings.Join(texts, ",")
}
