package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// A plan is which images to make, of what, and where.
type plan struct {
	root      string
	out       string
	source    source
	programs  []string
	platforms []string
}

// A made is an image that was written.
type made struct {
	program string
	layout  string
	digest  v1.Hash
}

// build compiles every program for every processor and writes a layout for each, with the
// lists of what is in it and the statement of how it was made beside: out/PROGRAM,
// out/PROGRAM-linux-PROCESSOR.cdx.json and out/PROGRAM.provenance.json.
func build(ctx context.Context, p *plan) ([]made, error) {
	binaries, err := os.MkdirTemp("", "defaultplan-image-")
	if err != nil {
		return nil, fmt.Errorf("cannot make a folder for binaries: %w", err)
	}
	defer func() { _ = os.RemoveAll(binaries) }()
	for _, processor := range p.platforms {
		if err := compile(ctx, p.root, programsOf(&p.source, "linux", processor, p.programs...), filepath.Join(binaries, processor)); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(p.out, 0o755); err != nil { //nolint:gosec // images hold no secret
		return nil, fmt.Errorf("cannot make the folder of the images: %w", err)
	}
	all := make([]made, 0, len(p.programs))
	for _, program := range p.programs {
		one, err := p.write(program, binaries)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// write makes the layout of one program from its binaries.
func (p *plan) write(program, binaries string) (made, error) {
	images := make([]v1.Image, 0, len(p.platforms))
	lists := make([]v1.Image, 0, len(p.platforms))
	for _, processor := range p.platforms {
		binary := filepath.Join(binaries, processor, program)
		image, err := imageOf(&p.source, program, processor, binary)
		if err != nil {
			return made{}, err
		}
		list, err := p.list(program, processor, binary, image)
		if err != nil {
			return made{}, err
		}
		images, lists = append(images, image), append(lists, list)
	}
	index := indexOf(&p.source, program, p.platforms, images)
	digest, err := index.Digest()
	if err != nil {
		return made{}, fmt.Errorf("cannot compute the digest of %q: %w", program, err)
	}
	provenance, err := p.provenance(program, digest, index)
	if err != nil {
		return made{}, err
	}
	folder := filepath.Join(p.out, program)
	return made{program: program, layout: folder, digest: digest}, writeLayout(folder, program, p.source.tag(), index, append(lists, provenance))
}

// provenance writes the statement of how an image was made beside the layout, and attaches it.
func (p *plan) provenance(program string, digest v1.Hash, index v1.ImageIndex) (v1.Image, error) {
	statement, err := provenanceOf(&p.source, []subject{{Name: program, Digest: map[string]string{digest.Algorithm: digest.Hex}}}, nil)
	if err != nil {
		return nil, err
	}
	name := program + ".provenance.json"
	if err := os.WriteFile(filepath.Join(p.out, name), statement, 0o644); err != nil { //nolint:gosec // to be read by all
		return nil, fmt.Errorf("cannot write the provenance %q: %w", name, err)
	}
	return attach(statement, statementType, name, index)
}

// list writes the list of what is in an image beside the layout, and attaches it.
func (p *plan) list(program, processor, binary string, image v1.Image) (v1.Image, error) {
	list, err := listOf(&p.source, program, binary)
	if err != nil {
		return nil, err
	}
	name := program + "-linux-" + processor + ".cdx.json"
	if err := os.WriteFile(filepath.Join(p.out, name), list, 0o644); err != nil { //nolint:gosec // to be read by all
		return nil, fmt.Errorf("cannot write the list %q: %w", name, err)
	}
	return attach(list, listType, name, image)
}

// writeLayout writes the index under its tag, and the artifacts that refer to it or to its
// images. A layout that is there already is replaced.
func writeLayout(folder, program, tag string, index v1.ImageIndex, artifacts []v1.Image) error {
	if err := removeOld(folder); err != nil {
		return err
	}
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return fmt.Errorf("cannot write the layout %q: %w", folder, err)
	}
	named := layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": tag,
		// What containerd calls it when it imports the layout, as kind load does: the name that the
		// chart and install.yaml have without a registry.
		"io.containerd.image.name": "docker.io/defaultplan/" + program + ":" + tag,
	})
	if err := path.AppendIndex(index, named); err != nil {
		return fmt.Errorf("cannot write into the layout %q: %w", folder, err)
	}
	for _, one := range artifacts {
		if err := path.AppendImage(one); err != nil {
			return fmt.Errorf("cannot write an artifact into the layout %q: %w", folder, err)
		}
	}
	return nil
}

// removeOld removes a layout, and nothing that is none.
func removeOld(folder string) error {
	content, err := os.ReadDir(folder)
	if os.IsNotExist(err) || err == nil && len(content) == 0 {
		return nil
	}
	if _, err := layout.FromPath(folder); err != nil {
		return fmt.Errorf("%q is no layout that could be replaced: %w", folder, err)
	}
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("cannot replace the layout %q: %w", folder, err)
	}
	return nil
}
