package webhook

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Users find the reason of each denial in docs/troubleshooting.md: each that
// the golden files have.
func TestEveryRefusalIsInTheTroubleshooting(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "troubleshooting.md"))
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join("testdata", "*.golden"))
	require.NoError(t, err)
	reasons := map[string]bool{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, found := range regexp.MustCompile(`(?m)^(?:mutate|validate) (\w+): \d+ `).FindAllSubmatch(content, -1) {
			reasons[string(found[1])] = true
		}
	}
	require.NotEmpty(t, reasons)
	for reason := range reasons {
		assert.Contains(t, string(page), "`"+reason+"`")
	}
}
