package merge

import (
	"go/build"
	"regexp"
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
	want := Report{Violations: []Violation{{Pointer: "/a~1b", Keyword: "contentMediaType", Message: "does not satisfy the schema"}}, Total: 1}
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
