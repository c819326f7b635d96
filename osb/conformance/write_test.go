package conformance

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// IDs of the other side make no row and steer no terminal.
func TestTableIsPrintable(t *testing.T) {
	t.Parallel()
	sheet := NewSheet(Platform, "2.17")
	sheet.Break("M1.1", "provision of i\x1b[2J\nM9.9\tMUST\tkept")
	sheet.Leave("instance i\x1b[2J\nM9.9")
	report := sheet.Report()
	var out strings.Builder
	require.NoError(t, Write(&out, &report, "table", false))
	assert.NotContains(t, out.String(), "\x1b")
	assert.NotContains(t, out.String(), "\nM9.9")
}

// A broken SHOULD fails a strict report only.
func TestJUnitIsStrict(t *testing.T) {
	t.Parallel()
	sheet := NewSheet(Platform, "2.17")
	sheet.Break("M4.1", "left out")
	report := sheet.Report()
	for strict, want := range map[bool]string{false: `failures="0"`, true: `failures="1"`} {
		var out strings.Builder
		require.NoError(t, Write(&out, &report, "junit", strict))
		assert.Contains(t, out.String(), want)
	}
}
