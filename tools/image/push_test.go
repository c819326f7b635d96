package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// startRegistry serves an empty registry of this process, and returns its host.
func startRegistry(t *testing.T, options ...registry.Option) (host string) {
	t.Helper()
	server := httptest.NewServer(registry.New(append(options, registry.Logger(log.New(io.Discard, "", 0)))...))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// pull is an image of a registry, whole and valid.
func pull(t *testing.T, host, repository, tag string) (name.Repository, v1.ImageIndex) {
	t.Helper()
	ref, err := name.NewTag(host + "/" + repository + ":" + tag)
	require.NoError(t, err)
	index, err := remote.Index(ref)
	require.NoError(t, err)
	require.NoError(t, validate.Index(index))
	return ref.Repository, index
}

// attached is the one file that a registry knows to refer to an image. It is not asked for a type
// alone: this registry looks at the type of the configuration, as older ones do.
func attached(t *testing.T, repository name.Repository, image v1.Hash, media string) []byte {
	t.Helper()
	referrers, err := remote.Referrers(repository.Digest(image.String()))
	require.NoError(t, err)
	manifest, err := referrers.IndexManifest()
	require.NoError(t, err)
	require.Len(t, manifest.Manifests, 1)
	list, err := remote.Image(repository.Digest(manifest.Manifests[0].Digest.String()))
	require.NoError(t, err)
	of, err := list.Manifest()
	require.NoError(t, err)
	assert.Equal(t, image, of.Subject.Digest)
	assert.Equal(t, media, of.ArtifactType)
	layers, err := list.Layers()
	require.NoError(t, err)
	require.Len(t, layers, 1)
	content, err := layers[0].Compressed()
	require.NoError(t, err)
	read, err := io.ReadAll(content)
	require.NoError(t, err)
	require.NoError(t, content.Close())
	return read
}

// What is pushed is what is in the layout, by the same digest, and the lists can be found
// whether the registry has the API for that or not.
func TestPushAndPull(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	all := mustBuild(t, planOf(tiny(t), out))
	for testName, tc := range map[string]struct {
		reason  string
		options []registry.Option
	}{
		"Referrers": {reason: "the registry tells what refers to an image", options: []registry.Option{registry.WithReferrersSupport(true)}},
		"Tags":      {reason: "an older one, which is asked for a tag"},
	} {
		t.Run(testName, func(t *testing.T) {
			t.Parallel()
			host := startRegistry(t, tc.options...)
			require.NoError(t, push(t.Context(), all[0].layout, host+"/shop/webhook", "v1.2.3_x"))
			repository, index := pull(t, host, "shop/webhook", "v1.2.3_x")
			digest, err := index.Digest()
			require.NoError(t, err)
			assert.Equal(t, all[0].digest, digest)
			manifest, err := index.IndexManifest()
			require.NoError(t, err)
			for _, image := range manifest.Manifests {
				list := attached(t, repository, image.Digest, listType)
				file := filepath.Join(t.TempDir(), "list.json")
				require.NoError(t, os.WriteFile(file, list, 0o600))
				assert.Equal(t, "v1.2.3+x", readList(t, file).Metadata.Component.Version, tc.reason)
			}
			var made statement
			require.NoError(t, json.Unmarshal(attached(t, repository, digest, statementType), &made))
			assert.Equal(t, []subject{{Name: "webhook", Digest: map[string]string{"sha256": digest.Hex}}}, made.Subject)
			assert.Equal(t, "0123", made.Predicate.BuildDefinition.ResolvedDependencies[0].Digest["gitCommit"])
			require.NoError(t, push(t.Context(), all[0].layout, host+"/shop/webhook", "v1.2.3_x"), "again")
		})
	}
}

// No registry is meant that was not named, and what is no layout is not pushed.
func TestPushThatFails(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, push(t.Context(), "", "shop/webhook", "v1"), `cannot push to "shop/webhook"`)
	require.ErrorContains(t, push(t.Context(), t.TempDir(), "127.0.0.1:1/shop", "v1"), "cannot read the layout")
	all := mustBuild(t, planOf(tiny(t), t.TempDir()))
	err := push(t.Context(), all[0].layout, "127.0.0.1:1/shop", "v1")
	require.ErrorContains(t, err, "cannot push sha256:")
}
