package main

import (
	"archive/tar"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// versionOfTest is what the programs are stamped with here.
const versionOfTest = "v0.2.0-test"

// The project's own images, as `make image` makes them: made twice, from two folders,
// they are the same to the byte; pushed and pulled, the program of this machine's
// processor runs and says its version; and the lists have every module that the compiler
// says it used. Images for other processors are tested with a small program: to compile the
// project for one of them takes minutes without a cache, and is what `make image` does.
func TestImagesOfTheProject(t *testing.T) {
	t.Parallel()
	// Two copies of one state: the project may be edited while this runs.
	first, second := t.TempDir(), t.TempDir()
	copyProject(t, first)
	require.NoError(t, os.CopyFS(second, os.DirFS(first)))
	host := startRegistry(t, registry.WithReferrersSupport(true))
	out := t.TempDir()
	printed := imagesOf(t, first, out, "-push", host+"/shop")
	t.Run("Same", func(t *testing.T) {
		t.Parallel()
		again := t.TempDir()
		require.Equal(t, printed, imagesOf(t, second, again))
		assert.Equal(t, sumsOf(t, out), sumsOf(t, again), "every file of the layouts, and the lists")
	})
	for _, line := range printed {
		fields := strings.Fields(line)
		require.Len(t, fields, 3)
		t.Run(fields[0], func(t *testing.T) {
			t.Parallel()
			_, index := pull(t, host, "shop/"+fields[0], versionOfTest)
			digest, err := index.Digest()
			require.NoError(t, err)
			assert.Equal(t, fields[2], digest.String())
			assert.Contains(t, runFrom(t, index, fields[0]), versionOfTest+" ("+runtime.Version()+")")
			assert.Equal(t, usedBy(t, first, fields[0], runtime.GOARCH), listed(t, out, fields[0], runtime.GOARCH))
		})
	}
}

// imagesOf runs the command, and returns a line for each of the three images.
func imagesOf(t *testing.T, root, out string, more ...string) []string {
	t.Helper()
	var printed strings.Builder
	args := append([]string{"-root", root, "-out", out, "-version", versionOfTest, "-platforms", runtime.GOARCH}, more...)
	require.NoError(t, run(t.Context(), args, &printed))
	lines := strings.Split(strings.TrimSpace(printed.String()), "\n")
	require.Len(t, lines, 3)
	return lines
}

// runFrom takes the program of this machine's processor out of an image and asks it for
// its version.
func runFrom(t *testing.T, index v1.ImageIndex, program string) string {
	t.Helper()
	manifest, err := index.IndexManifest()
	require.NoError(t, err)
	for i := range manifest.Manifests {
		if manifest.Manifests[i].Platform.Architecture != runtime.GOARCH {
			continue
		}
		image, err := index.Image(manifest.Manifests[i].Digest)
		require.NoError(t, err)
		args := []string{"--version"}
		if program == "svcat" {
			args = []string{"version", "--client"}
		}
		output, err := exec.CommandContext(t.Context(), extract(t, image, program), args...).CombinedOutput()
		require.NoError(t, err, "%s", output)
		return string(output)
	}
	t.Fatalf("there is no image for %s", runtime.GOARCH)
	return ""
}

// extract writes a file of an image's root folder, executable.
func extract(t *testing.T, image v1.Image, file string) string {
	t.Helper()
	flat := mutate.Extract(image)
	defer func() { assert.NoError(t, flat.Close()) }()
	for files := tar.NewReader(flat); ; {
		header, err := files.Next()
		require.NoError(t, err, "the image has %s", file)
		if header.Name != file {
			continue
		}
		path := filepath.Join(t.TempDir(), file)
		to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, header.FileInfo().Mode())
		require.NoError(t, err)
		_, err = io.Copy(to, files)
		require.NoError(t, err)
		require.NoError(t, to.Close())
		return path
	}
}

// copyProject copies what git knows of the project, and what it does not ignore.
func copyProject(t *testing.T, to string) {
	t.Helper()
	root := filepath.Join("..", "..")
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	names, err := list.Output()
	require.NoError(t, err)
	for name := range strings.SplitSeq(strings.Trim(string(names), "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // removed, and not committed yet
		}
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(to, name), content, 0o644))
	}
}

// usedBy are the modules that a program's packages are of, as the go command says.
func usedBy(t *testing.T, root, program, processor string) []string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Version}}{{end}}", "./cmd/"+program)
	list.Dir = root
	list.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+processor, "CGO_ENABLED=0", "GOFLAGS=")
	output, err := list.Output()
	require.NoError(t, err)
	used := map[string]bool{}
	for line := range strings.Lines(string(output)) {
		if module := strings.Fields(line); len(module) == 2 {
			used[module[0]+"@"+module[1]] = true
		}
	}
	require.NotEmpty(t, used)
	return slices.Sorted(maps.Keys(used))
}

// listed are the modules of a list, but for Go's own library and the authorities.
func listed(t *testing.T, out, program, processor string) []string {
	t.Helper()
	list := readList(t, filepath.Join(out, program+"-linux-"+processor+".cdx.json"))
	modules := []string{}
	for _, component := range *list.Components {
		if component.Name != "std" && component.Name != rootsModule {
			assert.Equal(t, "pkg:golang/"+component.Name+"@"+component.Version, component.PackageURL)
			modules = append(modules, component.Name+"@"+component.Version)
		}
	}
	slices.Sort(modules)
	return modules
}

// sumsOf are the digests of all files below a folder.
func sumsOf(t *testing.T, folder string) map[string]string {
	t.Helper()
	sums := map[string]string{}
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = content.Close() }()
		sum, _, err := v1.SHA256(content)
		name, _ := filepath.Rel(folder, path)
		sums[name] = sum.String()
		return err
	}))
	return sums
}
