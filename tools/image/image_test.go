package main

import (
	"archive/tar"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// indexIn is the one image of a layout, under its tag.
func indexIn(t *testing.T, folder, tag string) v1.ImageIndex {
	t.Helper()
	content, err := layout.ImageIndexFromPath(folder)
	require.NoError(t, err)
	manifest, err := content.IndexManifest()
	require.NoError(t, err)
	require.NotEmpty(t, manifest.Manifests)
	assert.Equal(t, map[string]string{
		"org.opencontainers.image.ref.name": tag,
		"io.containerd.image.name":          "docker.io/defaultplan/" + filepath.Base(folder) + ":" + tag,
	}, manifest.Manifests[0].Annotations)
	index, err := content.ImageIndex(manifest.Manifests[0].Digest)
	require.NoError(t, err)
	return index
}

// An image says what it is, and starts one program as an unprivileged user.
func TestImageIsWhatTheFormatSays(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	all := mustBuild(t, planOf(tiny(t), out))
	index := indexIn(t, all[0].layout, "v1.2.3_x")
	require.NoError(t, validate.Index(index))
	manifest, err := index.IndexManifest()
	require.NoError(t, err)
	assert.Equal(t, types.OCIImageIndex, manifest.MediaType)
	told := map[string]string{
		"org.opencontainers.image.title": "webhook", "org.opencontainers.image.description": titles["webhook"],
		"org.opencontainers.image.version": "v1.2.3+x", "org.opencontainers.image.revision": "0123",
		"org.opencontainers.image.created": "2023-11-14T22:13:20Z",
	}
	assert.Equal(t, told, manifest.Annotations)
	require.Len(t, manifest.Manifests, 2)
	var bases []v1.Hash
	for i, processor := range []string{"amd64", "arm64"} {
		assert.Equal(t, platformOf(processor), manifest.Manifests[i].Platform)
		image, err := index.Image(manifest.Manifests[i].Digest)
		require.NoError(t, err)
		config, err := image.ConfigFile()
		require.NoError(t, err)
		assert.Equal(t, processor, config.Architecture)
		assert.Equal(t, int64(1_700_000_000), config.Created.Unix())
		assert.Equal(t, v1.Config{
			User: "65532:65532", Entrypoint: []string{"/webhook"}, WorkingDir: "/", Labels: told,
		}, config.Config)
		of, err := image.Manifest()
		require.NoError(t, err)
		assert.Equal(t, types.OCIManifestSchema1, of.MediaType)
		assert.Equal(t, types.OCIConfigJSON, of.Config.MediaType)
		assert.Equal(t, told, of.Annotations)
		bases = append(bases, of.Layers[0].Digest)
	}
	assert.Equal(t, bases[0], bases[1], "the base is shared")
}

// There is nothing in it but the program, accounts, authorities and a place for
// temporary files: no shell.
func TestFilesOfAnImage(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "webhook")
	require.NoError(t, os.WriteFile(binary, []byte("program"), 0o600))
	image, err := imageOf(&source{version: "v1"}, "webhook", "amd64", binary)
	require.NoError(t, err)
	flat := mutate.Extract(image)
	defer func() { assert.NoError(t, flat.Close()) }()
	modes, contents := map[string]fs.FileMode{}, map[string]string{}
	for files := tar.NewReader(flat); ; {
		file, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		assert.Zero(t, file.Uid+file.Gid, "root's, so that the program cannot change it: %s", file.Name)
		assert.Zero(t, file.ModTime.Unix(), file.Name)
		content, err := io.ReadAll(files)
		require.NoError(t, err)
		modes[file.Name], contents[file.Name] = file.FileInfo().Mode(), string(content)
	}
	folder := fs.ModeDir | 0o755
	assert.Equal(t, map[string]fs.FileMode{
		"etc": folder, "etc/group": 0o644, "etc/passwd": 0o644, "etc/ssl": folder, "etc/ssl/certs": folder,
		"etc/ssl/certs/ca-certificates.crt": 0o644, "tmp": fs.ModeDir | fs.ModeSticky | 0o777, "webhook": 0o755,
	}, modes)
	assert.Equal(t, "program", contents["webhook"])
	assert.Contains(t, contents["etc/passwd"], "nonroot:x:65532:65532:")
	authorities := x509.NewCertPool()
	require.True(t, authorities.AppendCertsFromPEM([]byte(contents["etc/ssl/certs/ca-certificates.crt"])))
	assert.Greater(t, len(authorities.Subjects()), 100, "those of browsers") //nolint:staticcheck // it is no system pool
}

func TestImageIsReplacedAndNothingElse(t *testing.T) {
	t.Parallel()
	root, out := tiny(t), t.TempDir()
	p := planOf(root, out)
	p.platforms = []string{"amd64"}
	first := mustBuild(t, p)
	p.source.version = "v2"
	second := mustBuild(t, p)
	assert.NotEqual(t, first[0].digest, second[0].digest)
	content, err := layout.ImageIndexFromPath(second[0].layout)
	require.NoError(t, err)
	manifest, err := content.IndexManifest()
	require.NoError(t, err)
	assert.Len(t, manifest.Manifests, 3, "an image, its list and its provenance; nothing of the first")

	require.NoError(t, os.RemoveAll(filepath.Join(out, "webhook")))
	require.NoError(t, os.MkdirAll(filepath.Join(out, "webhook"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(out, "webhook", "precious"), nil, 0o600))
	_, err = build(t.Context(), p)
	require.ErrorContains(t, err, "is no layout that could be replaced")
	assert.FileExists(t, filepath.Join(out, "webhook", "precious"))
}

// What cannot be built is told, and what the compiler said of it.
func TestBuildThatFails(t *testing.T) {
	t.Parallel()
	p := planOf(tiny(t), t.TempDir())
	p.programs = []string{"absent"}
	_, err := build(t.Context(), p)
	require.ErrorContains(t, err, "cannot build ./cmd/absent for linux/amd64")
	require.ErrorContains(t, err, "cmd/absent")
}
