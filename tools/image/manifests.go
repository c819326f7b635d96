package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// The charts of a release, below deploy/charts. Only the first names images.
const installationChart, libraryChart = "defaultplan", "servicecatalog-lib"

var (
	imageLine     = regexp.MustCompile(`(?m)^(\s*(?:- )?image: )(defaultplan/([a-z]+)):(\S+)$`)
	appVersion    = regexp.MustCompile(`(?m)^appVersion: (\S+)$`)
	chartVersion  = regexp.MustCompile(`(?m)^version: (\S+)$`)
	registryValue = regexp.MustCompile(`(?m)^(  registry: )""$`)
	annotations   = regexp.MustCompile(`(?m)^annotations:\n`)
	errNoImages   = errors.New("it names no image of ours")
)

// pins are the images of a release: where they are, and the digest of each program's.
type pins struct {
	// registry is host and path, if any; empty: what a cluster's nodes take an image without one to be.
	registry string
	version  string
	digests  map[string]v1.Hash
}

// manifest is a manifest whose images are pinned by digest.
func (p *pins) manifest(manifest []byte) ([]byte, error) {
	var errs []error
	found := false
	pinned := imageLine.ReplaceAllFunc(manifest, func(line []byte) []byte {
		found = true
		parts := imageLine.FindSubmatch(line)
		tag := string(parts[4])
		digest, made := p.digests[string(parts[3])]
		switch {
		case tag != p.version:
			errs = append(errs, fmt.Errorf("it names %s:%s, and the release is %s: change the version in deploy, and run make generate", parts[2], tag, p.version))
		case !made:
			errs = append(errs, fmt.Errorf("it names %s, of which no image was made", parts[2]))
		}
		repository := string(parts[2])
		if p.registry != "" {
			repository = p.registry + "/" + repository
		}
		return fmt.Appendf(nil, "%s%s:%s@%s", parts[1], repository, tag, digest)
	})
	if !found {
		errs = append(errs, errNoImages)
	}
	return pinned, errors.Join(errs...)
}

// values are the values of the chart with the registry of the release.
func (p *pins) values(values []byte) ([]byte, error) {
	if !registryValue.Match(values) {
		return nil, errors.New("it has no empty registry")
	}
	return registryValue.ReplaceAll(values, []byte(`${1}"`+p.registry+`"`)), nil
}

// about is the chart's Chart.yaml with the digests of its images, which the chart takes unless its user
// names another tag, repository or digest.
func (p *pins) about(about []byte) ([]byte, error) {
	if !annotations.Match(about) {
		return nil, errors.New("it has no annotations")
	}
	lines := []byte("annotations:\n")
	for _, program := range slices.Sorted(maps.Keys(p.digests)) {
		lines = fmt.Appendf(lines, "  defaultplan/%s-digest: %s\n", program, p.digests[program])
	}
	return annotations.ReplaceAll(about, lines), nil
}

// chart is a chart as `helm package` names and packs it, its images pinned.
func (p *pins) chart(root, name string) (fileName string, packed []byte, err error) {
	folder := filepath.Join(root, "deploy", "charts", name)
	about, err := os.ReadFile(filepath.Join(folder, "Chart.yaml"))
	if err != nil {
		return "", nil, fmt.Errorf("cannot read chart %q: %w", name, err)
	}
	if got := appVersion.FindSubmatch(about); got == nil || string(got[1]) != p.version {
		return "", nil, fmt.Errorf("chart %q has appVersion %q, and the release is %s: change it in its Chart.yaml", name, bytes.Join(got, nil), p.version)
	}
	own := chartVersion.FindSubmatch(about)
	if own == nil || "v"+string(own[1]) != p.version {
		return "", nil, fmt.Errorf("chart %q has version %q, and the release is %s: change it in its Chart.yaml", name, bytes.Join(own, nil), p.version)
	}
	entries, err := folderEntries(folder, name)
	if err != nil {
		return "", nil, err
	}
	pin := map[string]func([]byte) ([]byte, error){installationChart + "/values.yaml": p.values, installationChart + "/Chart.yaml": p.about}
	for i := range entries {
		if pins := pin[entries[i].path]; pins != nil {
			if entries[i].content, err = pins(entries[i].content); err != nil {
				return "", nil, fmt.Errorf("cannot pin the images of %q: %w", entries[i].path, err)
			}
		}
	}
	packed, err = tarGz(entries)
	return name + "-" + string(own[1]) + ".tgz", packed, err
}
