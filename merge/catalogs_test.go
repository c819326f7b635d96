package merge_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/merge"
)

// TestCatalogsOfRealBrokers: every schema that a real broker publishes is usable, whole and partial, within the budget.
func TestCatalogsOfRealBrokers(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../shared/catalogs/*.json")
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("the collected catalogs are not beside this checkout")
	}
	count := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		var catalog any
		require.NoError(t, json.Unmarshal(raw, &catalog), file)
		for _, schema := range published(catalog, nil) {
			text, err := json.Marshal(schema)
			require.NoError(t, err)
			s, err := merge.Compile(text)
			require.NoError(t, err, "%s: %s", file, text)
			_, err = s.Partial()
			require.NoError(t, err, file)
			_, err = s.Check(map[string]any{"unknown": "x"})
			require.NoError(t, err, file)
			count++
		}
	}
	assert.GreaterOrEqual(t, count, 150, "the walk found the schemas")
}

// published are the values of "parameters" below a catalog's "schemas".
func published(value any, found []any) []any {
	switch v := value.(type) {
	case map[string]any:
		if schemas, ok := v["schemas"]; ok {
			found = parameters(schemas, found)
		}
		for _, item := range v {
			found = published(item, found)
		}
	case []any:
		for _, item := range v {
			found = published(item, found)
		}
	}
	return found
}

// parameters descends from "schemas" through the two levels that OSB has: object and verb.
func parameters(schemas any, found []any) []any {
	object, ok := schemas.(map[string]any)
	if !ok {
		return found
	}
	for key, item := range object {
		if key == "parameters" && item != nil {
			found = append(found, item)
			continue
		}
		found = parameters(item, found)
	}
	return found
}
