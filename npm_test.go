package defaultplan_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var packageRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| `([^`]+)` \\| .+ \\| ([^|]+) \\|$")

// TestDependenciesOfNPM compares the table of npm's packages with each package.json and its lock file.
func TestDependenciesOfNPM(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(dependenciesPage)
	require.NoError(t, err)
	_, table, found := strings.Cut(string(page), "\n## Packages of npm\n")
	require.True(t, found)
	listed := map[string]string{}
	for _, row := range packageRow.FindAllStringSubmatch(table, -1) {
		listed[row[2]+" "+row[1]] = row[3]
	}
	assert.Equal(t, npmPackages(t), listed, "folder and package to license")
}

// npmPackages maps each folder with a package.json and package that it requires to the package's license.
func npmPackages(t *testing.T) map[string]string {
	t.Helper()
	required := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS("tools"), ".", func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.Name() == "node_modules" {
			return fs.SkipDir
		}
		if err != nil || filepath.Base(path) != "package.json" {
			return err
		}
		folder := filepath.Join("tools", filepath.Dir(path))
		var wanted struct{ Dependencies, DevDependencies map[string]string }
		readJSON(t, filepath.Join(folder, "package.json"), &wanted)
		var lock struct {
			Packages map[string]struct{ License string }
		}
		readJSON(t, filepath.Join(folder, "package-lock.json"), &lock)
		for _, names := range []map[string]string{wanted.Dependencies, wanted.DevDependencies} {
			for name := range names {
				required[folder+" "+name] = lock.Packages["node_modules/"+name].License
			}
		}
		return nil
	}))
	return required
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(content, into), path)
}
