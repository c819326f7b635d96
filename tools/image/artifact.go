package main

import (
	"encoding/json"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	// listType is the media type of a list of what is in an image, and statementType that of a
	// statement of how it was made.
	listType      = "application/vnd.cyclonedx+json"
	statementType = "application/vnd.in-toto+json"
	// emptyType is that of a configuration which says nothing.
	emptyType = "application/vnd.oci.empty.v1+json"
)

// An artifact is a file that refers to an image in a registry, by the OCI's manifest for
// artifacts: it implements what go-containerregistry needs of an image.
type artifact struct {
	manifest []byte
	file     v1.Layer
}

// attach is an artifact with a file of a media type about an image, or an index of images.
func attach(content []byte, media types.MediaType, name string, about partial.Describable) (v1.Image, error) {
	subject, err := partial.Descriptor(about)
	if err != nil {
		return nil, fmt.Errorf("cannot describe the image that %q is about: %w", name, err)
	}
	file := static.NewLayer(content, media)
	described, err := partial.Descriptor(file)
	if err != nil {
		return nil, fmt.Errorf("cannot describe %q: %w", name, err)
	}
	described.Annotations = map[string]string{"org.opencontainers.image.title": name}
	config, err := partial.Descriptor(static.NewLayer([]byte("{}"), emptyType))
	if err != nil {
		return nil, fmt.Errorf("cannot describe nothing: %w", err)
	}
	manifest, err := json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, ArtifactType: string(media), Config: *config,
		Layers:  []v1.Descriptor{*described},
		Subject: &v1.Descriptor{MediaType: subject.MediaType, Size: subject.Size, Digest: subject.Digest},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot write the manifest of %q: %w", name, err)
	}
	attached, err := partial.CompressedToImage(&artifact{manifest: manifest, file: file})
	if err != nil {
		return nil, fmt.Errorf("cannot make an artifact: %w", err)
	}
	return attached, nil
}

// RawConfigFile is the empty configuration.
func (*artifact) RawConfigFile() ([]byte, error) { return []byte("{}"), nil }

// RawManifest is the manifest, which names the image as its subject.
func (a *artifact) RawManifest() ([]byte, error) { return a.manifest, nil }

// MediaType is that of a manifest.
func (*artifact) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

// LayerByDigest is the file.
func (a *artifact) LayerByDigest(v1.Hash) (partial.CompressedLayer, error) { return a.file, nil }
