package main

import (
	"fmt"
	"maps"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// titles say what each program is.
var titles = map[string]string{
	"webhook":    "Admission for the service catalog: decides class, plan and parameters",
	"controller": "Calls the brokers of the service catalog",
	"svcat":      "The command line of the service catalog",
}

// annotations are what the OCI's image format has for where an image comes from.
func (s *source) annotations(program string) map[string]string {
	all := map[string]string{
		"org.opencontainers.image.title":   program,
		"org.opencontainers.image.version": s.version,
		"org.opencontainers.image.created": s.created.Format(time.RFC3339),
	}
	if title := titles[program]; title != "" {
		all["org.opencontainers.image.description"] = title
	}
	if s.revision != "" {
		all["org.opencontainers.image.revision"] = s.revision
	}
	return all
}

// imageOf is the image of one program for one processor: the base, and the binary.
func imageOf(s *source, program, processor, binary string) (v1.Image, error) {
	base, err := baseLayer()
	if err != nil {
		return nil, err
	}
	own, err := programLayer(program, binary)
	if err != nil {
		return nil, err
	}
	blank := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.ConfigFile(blank, &v1.ConfigFile{
		OS: "linux", Architecture: processor, Variant: platformOf(processor).Variant,
		Created: v1.Time{Time: s.created}, RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User: user + ":" + user, Entrypoint: []string{"/" + program}, WorkingDir: "/", Labels: s.annotations(program),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot configure the image of %q: %w", program, err)
	}
	history := func(of string) v1.History { return v1.History{Created: v1.Time{Time: s.created}, CreatedBy: of} }
	image, err = mutate.Append(image,
		mutate.Addendum{Layer: base, History: history("accounts and certificate authorities")},
		mutate.Addendum{Layer: own, History: history(program + " " + s.version)})
	if err != nil {
		return nil, fmt.Errorf("cannot add the layers of %q: %w", program, err)
	}
	return annotated(image, s.annotations(program)), nil
}

// indexOf is the image of one program for all its processors.
func indexOf(s *source, program string, platforms []string, images []v1.Image) v1.ImageIndex {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for i, image := range images {
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: platformOf(platforms[i])},
		})
	}
	return annotated(index, s.annotations(program))
}

// platformOf is linux on a processor.
func platformOf(processor string) *v1.Platform {
	platform := &v1.Platform{OS: "linux", Architecture: processor}
	if processor == "arm64" {
		platform.Variant = "v8"
	}
	return platform
}

// annotated is an image or an index with annotations, of the type that it was.
func annotated[T interface{ RawManifest() ([]byte, error) }](of T, annotations map[string]string) T {
	return mutate.Annotations(of, maps.Clone(annotations)).(T) //nolint:forcetypeassert // it promises the same type
}
