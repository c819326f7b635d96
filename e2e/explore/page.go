package explore

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Bounds are how many things that may never happen are explored: few by go test -short, and
// both few and many else.
type Bounds struct{ Short, Long int }

// Chosen are the bounds that the test runs with.
func (b Bounds) Chosen() []int {
	if testing.Short() {
		return []int{b.Short}
	}
	return []int{b.Short, b.Long}
}

// CheckPage fails the test if an exploration found a violation, or if the table of
// docs/protocols.md, given by its path, does not have its result.
func CheckPage(t *testing.T, page, protocol string, bound int, r Result) {
	t.Helper()
	if r.Violation != nil {
		require.Fail(t, fmt.Sprintf("%s, bound %d", protocol, bound), r.Violation.String())
	}
	content, err := os.ReadFile(page)
	require.NoError(t, err)
	row := fmt.Sprintf("| %s | %d | %s | %s | %d |", protocol, bound, grouped(r.States), grouped(r.Ends), r.Depth)
	assert.True(t, strings.Contains("\n"+string(content), "\n"+row+"\n"), "%s has no row: %s", page, row) //nolint:testifylint // Contains prints the whole page
}

// RequireFound fails the test unless an exploration found a rule broken after that many steps, of
// which the last is given.
func RequireFound(t *testing.T, r Result, rule string, steps int, last string) {
	t.Helper()
	require.NotNil(t, r.Violation)
	t.Log(r.Violation)
	assert.Equal(t, rule, r.Violation.Rule)
	assert.Len(t, r.Violation.Trace, steps)
	assert.Equal(t, last, r.Violation.Last())
}

// grouped is a number with commas, as pages have it.
func grouped(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}
