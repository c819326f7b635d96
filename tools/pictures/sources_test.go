package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../.."

// TestPicturesAreOfTheirSources: a picture that cannot be compared was made of the sources as they
// are now.
func TestPicturesAreOfTheirSources(t *testing.T) {
	t.Parallel()
	sums, err := readSums(sumsFile)
	require.NoError(t, err)
	for name := range sources {
		sum, err := sumOf(os.DirFS(root), name)
		require.NoError(t, err)
		assert.Equal(t, sum, sums[name], "docs/pictures/%s was made of other sources than there are now: run make pictures", name)
		assert.FileExists(t, filepath.Join(folder, name))
	}
	assert.Len(t, sums, len(sources), "each sum is of a picture")
}

// TestEveryPictureIsChecked: each picture is compared with what is printed, or has sources.
func TestEveryPictureIsChecked(t *testing.T) {
	t.Parallel()
	checked := map[string]bool{graphName: true}
	for _, scene := range scenes {
		checked[scene.name] = true
	}
	for name := range sources {
		checked[name] = true
	}
	for _, shot := range shots {
		assert.Contains(t, sources, shot.name, "a screenshot has sources")
	}
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		assert.True(t, checked[file.Name()], "nothing checks docs/pictures/%s", file.Name())
	}
}

// TestRecord: the sum of a picture changes with each of its sources, and recording one leaves the
// others as they are.
func TestRecord(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{}
	for _, name := range []string{"layout.html", "shared.html", "type.html", "types.html"} {
		tree[pages+"templates/"+name] = &fstest.MapFile{Data: []byte(name)}
	}
	tree[pages+"assets/style.css"] = &fstest.MapFile{Data: []byte("a {}")}
	tree["deploy/monitoring/dashboard.json"] = &fstest.MapFile{Data: []byte("{}")}
	file := filepath.Join(t.TempDir(), sumsFile)
	require.NoError(t, record(tree, file, "ui-type.png", "dashboard.svg"))
	before, err := readSums(file)
	require.NoError(t, err)
	require.Len(t, before, 2)

	for changed, pictures := range map[string][]string{
		pages + "templates/layout.html": {"ui-type.png", "ui-types-narrow.png"}, pages + "templates/type.html": {"ui-type.png"},
		pages + "assets/style.css": {"ui-type.png", "ui-types-narrow.png"}, pages + "assets/new.js": {"ui-type.png", "ui-types-narrow.png"},
		"deploy/monitoring/dashboard.json": {"dashboard.svg"},
	} {
		other := fstest.MapFS{}
		for name, content := range tree {
			other[name] = content
		}
		other[changed] = &fstest.MapFile{Data: []byte("another")}
		for name := range sources {
			was, err := sumOf(tree, name)
			require.NoError(t, err)
			is, err := sumOf(other, name)
			require.NoError(t, err)
			assert.Equal(t, slices.Contains(pictures, name), was != is, "%s of %s", name, changed)
		}
	}

	tree["deploy/monitoring/dashboard.json"] = &fstest.MapFile{Data: []byte("[]")}
	require.NoError(t, record(tree, file, "dashboard.svg"))
	after, err := readSums(file)
	require.NoError(t, err)
	assert.NotEqual(t, before["dashboard.svg"], after["dashboard.svg"])
	assert.Equal(t, before["ui-type.png"], after["ui-type.png"])
	require.ErrorContains(t, record(tree, file, "none.png"), "the sources of none.png are not listed")
	require.ErrorContains(t, record(fstest.MapFS{}, file, "dashboard.svg"), "dashboard.svg has no source deploy/monitoring/dashboard.json")
}

// TestReadSums: a line that is no sum and name is an error, as a merge may leave one.
func TestReadSums(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat("0", 64) + "  dashboard.svg"
	for _, line := range []string{"<<<<<<< HEAD", "abc  dashboard.svg", strings.Repeat("x", 64) + "  dashboard.svg", whole + "\n" + whole} {
		file := filepath.Join(t.TempDir(), sumsFile)
		require.NoError(t, os.WriteFile(file, []byte(line+"\n"), 0o600))
		_, err := readSums(file)
		require.ErrorContains(t, err, "is no sum with a name of its own")
	}
}
