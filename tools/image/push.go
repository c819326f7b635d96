package main

import (
	"context"
	"fmt"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// push copies a layout to a repository, whose host must be said: the image under a tag, and by digest the lists
// that refer to it. Where the registry has no API for what refers to an image, they are
// found by the tag that the OCI defines for that. Credentials are those of the container
// tools' own configuration, if there is one.
func push(ctx context.Context, folder, repository, tag string) error {
	to, err := name.NewTag(repository+":"+tag, name.StrictValidation)
	if err != nil {
		return fmt.Errorf("cannot push to %q: %w", repository, err)
	}
	content, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return fmt.Errorf("cannot read the layout %q: %w", folder, err)
	}
	manifest, err := content.IndexManifest()
	if err != nil {
		return fmt.Errorf("cannot read the index of the layout %q: %w", folder, err)
	}
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	for i := range manifest.Manifests {
		if err := pushOne(content, &manifest.Manifests[i], to, options); err != nil {
			return fmt.Errorf("cannot push %s to %q: %w", manifest.Manifests[i].Digest, repository, err)
		}
	}
	return nil
}

func pushOne(content v1.ImageIndex, of *v1.Descriptor, to name.Tag, options []remote.Option) error {
	if of.MediaType.IsIndex() {
		index, err := content.ImageIndex(of.Digest)
		if err != nil {
			return err
		}
		return remote.WriteIndex(to, index, options...)
	}
	list, err := content.Image(of.Digest)
	if err != nil {
		return err
	}
	return remote.Write(to.Digest(of.Digest.String()), list, options...)
}
