package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// controlPlaneModule is the module of the control plane and of kubectl.
const controlPlaneModule = "e2e/controlplane"

var (
	// releases are semantic versions without build metadata.
	releases   = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?$`)
	registries = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d+)?(/[a-z0-9._-]+)*/?$`)
	kubernetes = regexp.MustCompile(`(?m)^\s*k8s\.io/kubernetes (v(\d+)\.(\d+)\.\S+)`)
)

// An archive is made for each of its platforms: of programs of cmd, and of the control plane's module.
type archive struct {
	name         string
	programs     []string
	controlPlane bool
	platforms    [][2]string
}

var (
	everywhere = [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}
	onLinux    = everywhere[:2]
	// archives are those of a release: the client, what serves, and a first try without a cluster.
	archives = []archive{
		{name: "svcat", programs: []string{"svcat"}, platforms: everywhere},
		{name: "defaultplan", programs: []string{"webhook", "controller"}, platforms: onLinux},
		{name: "defaultplan-playground", programs: []string{"webhook", "controller", "svcat", "playground"}, controlPlane: true, platforms: onLinux},
	}
)

// A release is what is published of one version: a folder of files.
type release struct {
	// repository has the version's tag, and root is the folder with the files of that commit.
	repository, root string
	out              string
	source           source
	// registry is where the manifests pull the images from.
	registry string
	// progress is told what is built: without a cache that takes minutes.
	progress io.Writer

	files map[string][]byte
}

func (r *release) sayf(format string, args ...any) {
	_, _ = fmt.Fprintf(r.progress, format+"\n", args...)
}

// make makes the release of a version from its tag: whatever else the repository's folder has.
func (r *release) make(ctx context.Context, version string) error {
	switch {
	case !releases.MatchString(version):
		return fmt.Errorf("version %q is none of a release: give one such as VERSION=v0.2.0", version)
	case r.registry != "" && !registries.MatchString(r.registry):
		return fmt.Errorf("registry %q is none: give host, port and path such as registry.example:5000/mirror", r.registry)
	}
	if err := r.replaceable(); err != nil {
		return err
	}
	tree, err := os.MkdirTemp("", "defaultplan-release-")
	if err != nil {
		return fmt.Errorf("cannot make a folder for the source: %w", err)
	}
	defer func() { _ = os.RemoveAll(tree) }()
	r.root, r.files = tree, map[string][]byte{}
	if r.source, err = checkOut(ctx, r.repository, version, tree); err != nil {
		return err
	}
	if err := r.checkGo(ctx); err != nil {
		return err
	}
	return r.write(ctx)
}

// replaceable refuses to replace what is no release.
func (r *release) replaceable() error {
	content, err := os.ReadDir(r.out)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(content) == 0:
		return nil
	case err != nil:
		return fmt.Errorf("%q is no folder that a release could replace: %w", r.out, err)
	}
	for _, name := range []string{sumsFile, provenanceFile} {
		if _, err := os.Stat(filepath.Join(r.out, name)); err != nil {
			return fmt.Errorf("%q is no release that could be replaced: it has no %s", r.out, name)
		}
	}
	return nil
}

// checkGo refuses modules for which this version of Go is too old.
func (r *release) checkGo(ctx context.Context) error {
	for _, module := range []string{".", controlPlaneModule} {
		cmd := exec.CommandContext(ctx, "go", "list", "-m")
		cmd.Dir, cmd.Env = filepath.Join(r.root, module), append(os.Environ(), toolchain())
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("cannot build module %s: %w: %s", module, err, output)
		}
	}
	_, err := r.kubernetes()
	return err
}

// write builds all files of the release, and writes them with their checksums into its folder.
func (r *release) write(ctx context.Context) error {
	// What is wrong in the source is told before minutes of compiling.
	notes, err := r.notes()
	if err != nil {
		return err
	}
	if err := r.describe(map[string]v1.Hash{"webhook": {}, "controller": {}}); err != nil {
		return err
	}
	r.sayf("building the images")
	digests, err := r.images(ctx)
	if err != nil {
		return err
	}
	if err := r.describe(digests); err != nil {
		return err
	}
	platforms, err := r.packAll(ctx)
	if err != nil {
		return err
	}
	if r.files["svcat.yaml"], err = krewOf(r.source.version, platforms); err != nil {
		return err
	}
	r.files["NOTES.md"] = []byte(notes)
	if r.files[provenanceFile], err = provenanceOf(&r.source, r.subjects(), map[string]string{"registry": r.registry}); err != nil {
		return err
	}
	return r.store()
}

// notes are the changelog's.
func (r *release) notes() (string, error) {
	changelog, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return "", fmt.Errorf("cannot read the changelog: %w", err)
	}
	return notesOf(string(changelog), r.source.version)
}

// describe adds the manifest and the charts, whose images are pinned.
func (r *release) describe(digests map[string]v1.Hash) error {
	p := &pins{registry: r.registry, version: r.source.version, digests: digests}
	manifest, err := os.ReadFile(filepath.Join(r.root, "deploy", "install.yaml"))
	if err != nil {
		return fmt.Errorf("cannot read the manifest: %w", err)
	}
	if r.files["install.yaml"], err = p.manifest(manifest); err != nil {
		return fmt.Errorf("cannot pin the images of deploy/install.yaml: %w", err)
	}
	for _, name := range []string{installationChart, libraryChart} {
		file, packed, err := p.chart(r.root, name)
		if err != nil {
			return err
		}
		r.files[file] = packed
	}
	return nil
}

// images adds the images, each as an archive of its OCI layout, with the lists and statements.
func (r *release) images(ctx context.Context) (map[string]v1.Hash, error) {
	folder, err := os.MkdirTemp("", "defaultplan-release-")
	if err != nil {
		return nil, fmt.Errorf("cannot make a folder for images: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	all, err := build(ctx, &plan{root: r.root, out: folder, source: r.source, programs: slices.Sorted(maps.Keys(titles)), platforms: []string{"amd64", "arm64"}})
	if err != nil {
		return nil, err
	}
	digests := map[string]v1.Hash{}
	for _, one := range all {
		digests[one.program] = one.digest
		entries, err := folderEntries(one.layout, "")
		if err != nil {
			return nil, err
		}
		if r.files[one.program+"-"+r.source.version+".oci.tar"], err = pack(entries); err != nil {
			return nil, err
		}
		if err := os.RemoveAll(one.layout); err != nil {
			return nil, fmt.Errorf("cannot remove a layout: %w", err)
		}
	}
	beside, err := folderEntries(folder, "")
	for _, e := range beside {
		r.files[e.path] = e.content
	}
	return digests, err
}

// packAll adds the archives, and returns those of svcat.
func (r *release) packAll(ctx context.Context) ([]platform, error) {
	licence, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return nil, fmt.Errorf("cannot read the licence: %w", err)
	}
	var platforms []platform
	for i := range archives {
		for _, of := range archives[i].platforms {
			entries, err := r.compile(ctx, &archives[i], of[0], of[1])
			if err != nil {
				return nil, err
			}
			binary := entries[0].path
			entries = append(entries, entry{path: "LICENSE", mode: 0o644, content: licence})
			name := archives[i].name + "-" + r.source.version + "-" + of[0] + "-" + of[1]
			packing := tarGz
			if of[0] == "windows" {
				name, packing = name+".zip", zipped
			} else {
				name += ".tar.gz"
			}
			if r.files[name], err = packing(entries); err != nil {
				return nil, err
			}
			if archives[i].name == "svcat" {
				platforms = append(platforms, platform{System: of[0], Processor: of[1], File: name, Sum: sumOf(r.files[name]), Binary: binary})
			}
		}
	}
	return platforms, nil
}

// compile builds the programs of an archive.
func (r *release) compile(ctx context.Context, a *archive, system, processor string) ([]entry, error) {
	folder, err := os.MkdirTemp("", "defaultplan-release-")
	if err != nil {
		return nil, fmt.Errorf("cannot make a folder for binaries: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	r.sayf("building %s for %s/%s", a.name, system, processor)
	if err := compile(ctx, r.root, programsOf(&r.source, system, processor, a.programs...), folder); err != nil {
		return nil, err
	}
	if a.controlPlane {
		variables, err := r.kubernetes()
		if err != nil {
			return nil, err
		}
		err = compile(ctx, r.root, &target{system: system, processor: processor, module: controlPlaneModule, packages: []string{".", "./kubectl"}, variables: variables}, folder)
		if err != nil {
			return nil, err
		}
	}
	entries, err := folderEntries(folder, "")
	for i := range entries {
		entries[i].mode = 0o755
	}
	return entries, err
}

// kubernetes are the linker's variables for the release that the control plane's module requires.
func (r *release) kubernetes() ([]string, error) {
	module, err := os.ReadFile(filepath.Join(r.root, controlPlaneModule, "go.mod"))
	if err != nil {
		return nil, fmt.Errorf("cannot read the control plane's module: %w", err)
	}
	version := kubernetes.FindStringSubmatch(string(module))
	if version == nil {
		return nil, errors.New("the control plane's go.mod requires no k8s.io/kubernetes")
	}
	const variable = "k8s.io/component-base/version."
	return []string{variable + "gitVersion=" + version[1], variable + "gitMajor=" + version[2], variable + "gitMinor=" + version[3]}, nil
}

// subjects are all files until now.
func (r *release) subjects() []subject {
	all := make([]subject, 0, len(r.files))
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		all = append(all, subject{Name: name, Digest: map[string]string{"sha256": sumOf(r.files[name])}})
	}
	return all
}

// sumsFile has the checksums, as sha256sum -c reads them; provenanceFile says how all was made.
const sumsFile, provenanceFile = "SHA256SUMS", "provenance.json"

// store writes the files and their checksums, in place of those of an earlier run once all are written.
func (r *release) store() error {
	var sums strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		fmt.Fprintf(&sums, "%s  %s\n", sumOf(r.files[name]), name)
	}
	r.files[sumsFile] = []byte(sums.String())
	if err := os.MkdirAll(filepath.Dir(r.out), 0o755); err != nil { //nolint:gosec // a release is for all
		return fmt.Errorf("cannot make the folder of the release: %w", err)
	}
	written, err := os.MkdirTemp(filepath.Dir(r.out), "release-")
	if err != nil {
		return fmt.Errorf("cannot make the folder of the release: %w", err)
	}
	defer func() { _ = os.RemoveAll(written) }() // where it was not renamed
	for name, content := range r.files {
		if err := os.WriteFile(filepath.Join(written, name), content, 0o644); err != nil { //nolint:gosec // a release is for all
			return fmt.Errorf("cannot write %q: %w", name, err)
		}
	}
	err = errors.Join(os.Chmod(written, 0o755), os.RemoveAll(r.out)) //nolint:gosec // a release is for all
	if err == nil {
		err = os.Rename(written, r.out)
	}
	if err != nil {
		return fmt.Errorf("cannot replace the release: %w", err)
	}
	r.sayf("%d files are in %s", len(r.files), r.out)
	return nil
}

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
