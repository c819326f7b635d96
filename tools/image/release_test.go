package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const releasedVersion = "v1.2.3"

// tinyRelease is the small project with what else a release is made of, tagged. changed are files with
// another content.
func tinyRelease(t *testing.T, changed map[string]string) (root string) {
	t.Helper()
	root = tiny(t)
	program := tinyFiles["cmd/webhook/main.go"]
	for name, content := range map[string]string{
		"cmd/controller/main.go": program, "cmd/svcat/main.go": program, "cmd/playground/main.go": program,
		"e2e/controlplane/go.mod":              "module example.com/controlplane\n\ngo 1.26.0\n\nrequire (\n\tk8s.io/kubernetes v1.36.3\n)\n",
		"e2e/controlplane/main.go":             "package main\n\nfunc main() {}\n",
		"e2e/controlplane/kubectl/main.go":     "package main\n\nfunc main() {}\n",
		"LICENSE":                              "Apache\n",
		"CHANGELOG.md":                         "# Changelog\n\n## v1.2.3 (2026-11-27)\n\nNew: [how](docs/a.md).\n\n### Added\n\n- One.\n\n## v1.2.2 (2026-01-01)\n\nOld.\n",
		"deploy/install.yaml":                  "a:\n- image: defaultplan/webhook:v1.2.3\n- name: b\n  image: defaultplan/controller:v1.2.3\n",
		"deploy/charts/defaultplan/Chart.yaml": "name: defaultplan\nversion: 1.2.3\nappVersion: v1.2.3\nannotations:\n  a: b\n",
		"deploy/charts/defaultplan/values.yaml": "images:\n  registry: \"\"\n  webhook:\n    repository: defaultplan/webhook\n    # Pins it.\n    digest: \"\"\n" +
			"  controller:\n    repository: defaultplan/controller\n    digest: \"\"\n",
		"deploy/charts/defaultplan/templates/a.yaml":   "a: b\n",
		"deploy/charts/servicecatalog-lib/Chart.yaml":  "name: servicecatalog-lib\nversion: 1.2.3\nappVersion: v1.2.3\n",
		"deploy/charts/servicecatalog-lib/values.yaml": "a: b\n",
	} {
		put(t, root, name, content)
	}
	for name, content := range changed {
		put(t, root, name, content)
	}
	gitIn(t, root, "init", "-q")
	gitIn(t, root, "add", "-A")
	gitIn(t, root, "commit", "-q", "-m", "all of it")
	gitIn(t, root, "tag", releasedVersion)
	return root
}

// gitIn runs git at a fixed time: two repositories with the same files have the same commit.
func gitIn(t *testing.T, folder string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", folder, "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-11-27T12:00:00Z", "GIT_COMMITTER_DATE=2026-11-27T12:00:00Z")
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", said)
}

func put(t *testing.T, root, name, content string) {
	t.Helper()
	path := filepath.Join(root, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

// released makes a release of a project and returns its files.
func released(t *testing.T, root string, more ...string) map[string]string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "release")
	require.NoError(t, run(t.Context(), append([]string{"-root", root, "-version", releasedVersion, "-release", out}, more...), io.Discard))
	content, err := folderEntries(out, "")
	require.NoError(t, err)
	files := map[string]string{}
	for _, e := range content {
		files[e.path] = string(e.content)
	}
	return files
}

// A release has a file for each way to get it, and two folders give the same bytes.
func TestRelease(t *testing.T) {
	t.Parallel()
	files := released(t, tinyRelease(t, nil), "-registry", "example.com/mirror/")
	assert.Equal(t, []string{
		"NOTES.md", "SHA256SUMS", "controller-linux-amd64.cdx.json", "controller-linux-arm64.cdx.json", "controller-v1.2.3.oci.tar", "controller.provenance.json",
		"defaultplan-1.2.3.tgz", "defaultplan-playground-v1.2.3-linux-amd64.tar.gz", "defaultplan-playground-v1.2.3-linux-arm64.tar.gz",
		"defaultplan-v1.2.3-linux-amd64.tar.gz", "defaultplan-v1.2.3-linux-arm64.tar.gz", "install.yaml", "provenance.json", "servicecatalog-lib-1.2.3.tgz",
		"svcat-linux-amd64.cdx.json", "svcat-linux-arm64.cdx.json",
		"svcat-v1.2.3-darwin-amd64.tar.gz", "svcat-v1.2.3-darwin-arm64.tar.gz", "svcat-v1.2.3-linux-amd64.tar.gz", "svcat-v1.2.3-linux-arm64.tar.gz",
		"svcat-v1.2.3-windows-amd64.zip", "svcat-v1.2.3-windows-arm64.zip", "svcat-v1.2.3.oci.tar", "svcat.provenance.json", "svcat.yaml",
		"webhook-linux-amd64.cdx.json", "webhook-linux-arm64.cdx.json", "webhook-v1.2.3.oci.tar", "webhook.provenance.json",
	}, slices.Sorted(maps.Keys(files)))
	t.Run("Same", func(t *testing.T) {
		t.Parallel()
		root := tinyRelease(t, nil)
		for _, name := range []string{"LICENSE", "cmd/svcat/main.go", "deploy/charts/defaultplan/templates/b.yaml"} {
			put(t, root, name, "what the tag has not") // edited since
		}
		gitIn(t, root, "commit", "-q", "--allow-empty", "-m", "another")
		again := released(t, root, "-registry", "example.com/mirror")
		for name := range files {
			assert.True(t, files[name] == again[name], "%s is another", name) //nolint:testifylint // Equal prints all of it
		}
	})
	t.Run("Sums", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, len(files)-1, strings.Count(files[sumsFile], "\n"))
		for line := range strings.Lines(files[sumsFile]) {
			sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
			assert.Equal(t, sum, sumOf([]byte(files[name])), name)
		}
	})
	t.Run("Programs", func(t *testing.T) { t.Parallel(); checkPrograms(t, files) })
	t.Run("Pinned", func(t *testing.T) { t.Parallel(); checkPinned(t, files) })
	t.Run("Notes", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, "New: [how]("+project+"/blob/v1.2.3/docs/a.md).\n\n### Added\n\n- One.\n", files["NOTES.md"])
	})
	t.Run("Krew", func(t *testing.T) {
		t.Parallel()
		manifest := files["svcat.yaml"]
		assert.Equal(t, 6, strings.Count(manifest, "uri: "+project+"/releases/download/v1.2.3/svcat-v1.2.3-"))
		for _, name := range []string{"svcat-v1.2.3-linux-amd64.tar.gz", "svcat-v1.2.3-windows-arm64.zip"} {
			assert.Contains(t, manifest, "/"+name+"\n    sha256: "+sumOf([]byte(files[name]))+"\n")
		}
		assert.Equal(t, 2, strings.Count(manifest, "bin: svcat.exe\n"))
	})
	t.Run("Provenance", func(t *testing.T) {
		t.Parallel()
		var of statement
		require.NoError(t, json.Unmarshal([]byte(files["provenance.json"]), &of))
		assert.Equal(t, predicateKind, of.PredicateType)
		assert.Len(t, of.Subject, len(files)-2, "all but itself and the checksums")
		assert.Equal(t, map[string]string{"version": "v1.2.3", "registry": "example.com/mirror"}, of.Predicate.BuildDefinition.ExternalParameters)
		assert.Len(t, of.Predicate.BuildDefinition.ResolvedDependencies[0].Digest["gitCommit"], 40)
		for _, s := range of.Subject {
			assert.Equal(t, sumOf([]byte(files[s.Name])), s.Digest["sha256"], s.Name)
		}
	})
}

// checkPrograms checks what is in the archives, and runs one.
func checkPrograms(t *testing.T, files map[string]string) {
	t.Helper()
	all := untarGz(t, files["defaultplan-playground-v1.2.3-linux-arm64.tar.gz"])
	assert.Equal(t, []string{"LICENSE", "controller", "controlplane", "kubectl", "playground", "svcat", "webhook"}, slices.Sorted(maps.Keys(all)))
	zipped, err := zip.NewReader(strings.NewReader(files["svcat-v1.2.3-windows-amd64.zip"]), int64(len(files["svcat-v1.2.3-windows-amd64.zip"])))
	require.NoError(t, err)
	assert.Equal(t, "svcat.exe", zipped.File[0].Name)
	assert.Equal(t, fs.FileMode(0o755), zipped.File[0].Mode())

	client := untarGz(t, files["svcat-v1.2.3-"+runtime.GOOS+"-"+runtime.GOARCH+".tar.gz"])
	path := filepath.Join(t.TempDir(), "svcat")
	require.NoError(t, os.WriteFile(path, client["svcat"], 0o700))
	said, err := exec.CommandContext(t.Context(), path).Output()
	require.NoError(t, err)
	assert.Equal(t, releasedVersion+"\n", string(said))
}

// checkPinned checks that manifest and chart name the images that are in the release.
func checkPinned(t *testing.T, files map[string]string) {
	t.Helper()
	chart := untarGz(t, files["defaultplan-1.2.3.tgz"])
	assert.Contains(t, string(chart["defaultplan/values.yaml"]), "  registry: \"example.com/mirror\"\n")
	for _, program := range []string{"webhook", "controller", "svcat"} {
		folder := t.TempDir()
		for name, content := range untar(t, strings.NewReader(files[program+"-v1.2.3.oci.tar"])) {
			put(t, folder, name, string(content))
		}
		content, err := layout.ImageIndexFromPath(folder)
		require.NoError(t, err)
		index, err := content.IndexManifest()
		require.NoError(t, err)
		digest := index.Manifests[0].Digest.String()
		if program != "svcat" { // only the chart's test runs that image
			assert.Contains(t, files["install.yaml"], "image: example.com/mirror/defaultplan/"+program+":v1.2.3@"+digest+"\n")
		}
		assert.Contains(t, string(chart["defaultplan/Chart.yaml"]), "\n  defaultplan/"+program+"-digest: "+digest+"\n")
	}
}

func untarGz(t *testing.T, archive string) map[string][]byte {
	t.Helper()
	packed, err := gzip.NewReader(strings.NewReader(archive))
	require.NoError(t, err)
	return untar(t, packed)
}

func untar(t *testing.T, archive io.Reader) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for files := tar.NewReader(archive); ; {
		file, err := files.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		var content bytes.Buffer
		_, err = io.Copy(&content, files)
		require.NoError(t, err)
		all[file.Name] = content.Bytes()
	}
}

// What is no release is refused before anything is compiled, and nothing is overwritten.
func TestReleaseRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason, file, content string
		args                  []string
		says                  string
	}{
		"NoTag":       {reason: "a version is of one commit for ever", args: []string{"-version", "v1.2.4"}, says: "has no tag v1.2.4: a release is built from one: git tag v1.2.4"},
		"NotSemantic": {reason: "Helm and Krew want it", args: []string{"-version", "1.2.3"}, says: `version "1.2.3" is none of a release`},
		"LeadingZero": {reason: "it is no semantic version", args: []string{"-version", "v1.2.3-01"}, says: "is none of a release"},
		"Registry":    {reason: "it has no scheme", args: []string{"-registry", "https://example.com"}, says: `registry "https://example.com" is none`},
		"NoNotes":     {reason: "who upgrades reads them", file: "CHANGELOG.md", content: "## v1.2.2\n\nOld.\n", says: "CHANGELOG.md says nothing of v1.2.3"},
		"EmptyNotes":  {reason: "a heading says nothing", file: "CHANGELOG.md", content: "## v1.2.3\n\n## v1.2.2\n\nOld.\n", says: "CHANGELOG.md says nothing of v1.2.3"},
		"Dateless":    {reason: "so is this", file: "CHANGELOG.md", content: "## v1.2.3 (unreleased)\n\nNew.\n", says: "CHANGELOG.md calls v1.2.3 unreleased"},
		"Unreleased":  {reason: "it is released by this", file: "CHANGELOG.md", content: "## Unreleased (v1.2.3)\n\nNew.\n", says: "CHANGELOG.md calls v1.2.3 unreleased"},
		"OtherTag":    {reason: "the labels have it, too", file: "deploy/install.yaml", content: "image: defaultplan/webhook:v1.2.2\n", says: "it names defaultplan/webhook:v1.2.2, and the release is v1.2.3"},
		"NoImage":     {reason: "it would install nothing", file: "deploy/install.yaml", content: "a: b\n", says: "it names no image of ours"},
		"OtherImage":  {reason: "it would be pulled from nowhere", file: "deploy/install.yaml", content: "image: defaultplan/other:v1.2.3\n", says: "it names defaultplan/other, of which no image was made"},
		"OtherChart":  {reason: "Helm shows it", file: "deploy/charts/servicecatalog-lib/Chart.yaml", content: "version: 1.2.2\nappVersion: v1.2.3\n", says: `chart "servicecatalog-lib" has version`},
		"OtherApp":    {reason: "its labels have it", file: "deploy/charts/defaultplan/Chart.yaml", content: "version: 1.2.3\nappVersion: v1.2.2\n", says: `chart "defaultplan" has appVersion`},
		"NoPlace":     {reason: "a tag may come to be another image", file: "deploy/charts/defaultplan/Chart.yaml", content: "version: 1.2.3\nappVersion: v1.2.3\n", says: "it has no annotations"},
		"NewerGo":     {reason: "all is built with one version, which the provenance names", file: "e2e/controlplane/go.mod", content: "module example.com/controlplane\n\ngo 1.99.0\n", says: "cannot build module e2e/controlplane"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := map[string]string{}
			if test.file != "" {
				changed[test.file] = test.content
			}
			out := filepath.Join(t.TempDir(), "release")
			err := run(t.Context(), append([]string{"-root", tinyRelease(t, changed), "-version", releasedVersion, "-release", out}, test.args...), failingWriter{t})
			require.ErrorContains(t, err, test.says, test.reason)
			assert.NoDirExists(t, out)
		})
	}
}

// failingWriter is told nothing: a release that is refused builds nothing.
type failingWriter struct{ t *testing.T }

func (f failingWriter) Write(said []byte) (int, error) {
	f.t.Errorf("it went on: %s", said)
	return len(said), nil
}

// A release takes the place of an earlier one, of which nothing is left; if it fails, the earlier one
// stays as it was.
func TestReleaseReplaces(t *testing.T) {
	t.Parallel()
	root, out := tinyRelease(t, nil), filepath.Join(t.TempDir(), "release")
	args := []string{"-root", root, "-version", releasedVersion, "-release", out + "/"}
	require.NoError(t, run(t.Context(), args, io.Discard))
	put(t, out, "stale", "x")
	before, err := os.ReadFile(filepath.Join(out, sumsFile))
	require.NoError(t, err)
	require.Error(t, run(t.Context(), append(args, "-version", "v1.2.4"), io.Discard))
	assert.FileExists(t, filepath.Join(out, "stale"))
	require.NoError(t, run(t.Context(), args, io.Discard))
	after, err := os.ReadFile(filepath.Join(out, sumsFile))
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
	assert.NoFileExists(t, filepath.Join(out, "stale"))
	beside, err := os.ReadDir(filepath.Dir(out))
	require.NoError(t, err)
	assert.Len(t, beside, 1, "nothing is left beside it")
}

// A repository that git does not read is not taken for one without the tag.
func TestReleaseOfNoRepository(t *testing.T) {
	t.Parallel()
	err := run(t.Context(), []string{"-root", t.TempDir(), "-version", releasedVersion, "-release", filepath.Join(t.TempDir(), "release")}, failingWriter{t})
	require.ErrorContains(t, err, "not a git repository")
}

// Only files are taken out of an archive.
func TestUnpack(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	writer := tar.NewWriter(&packed)
	require.NoError(t, writer.WriteHeader(&tar.Header{Name: "link", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink}))
	require.NoError(t, writer.Close())
	require.ErrorContains(t, unpack(packed.Bytes(), t.TempDir()), `"link" is neither a file nor a folder`)
	outside, err := pack([]entry{{path: "../outside", mode: 0o644, content: []byte("x")}})
	require.NoError(t, err)
	require.ErrorContains(t, unpack(outside, t.TempDir()), "escapes")
}

// A folder or file that is no release is kept.
func TestReleaseKeepsOtherFiles(t *testing.T) {
	t.Parallel()
	root := tinyRelease(t, nil)
	for name, files := range map[string][]string{"Mine": {"mine"}, "Downloads": {"mine", sumsFile}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := t.TempDir()
			for _, file := range files {
				put(t, out, file, "x")
			}
			err := run(t.Context(), []string{"-root", root, "-version", releasedVersion, "-release", out}, failingWriter{t})
			require.ErrorContains(t, err, "is no release that could be replaced")
			assert.FileExists(t, filepath.Join(out, "mine"))
		})
	}
	t.Run("File", func(t *testing.T) {
		t.Parallel()
		out := filepath.Join(t.TempDir(), "mine")
		require.NoError(t, os.WriteFile(out, []byte("x"), 0o600))
		err := run(t.Context(), []string{"-root", root, "-version", releasedVersion, "-release", out}, failingWriter{t})
		require.ErrorContains(t, err, "is no folder that a release could replace")
		assert.FileExists(t, out)
	})
}
