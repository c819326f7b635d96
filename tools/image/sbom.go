package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// rootsModule is the module that the certificate authorities are of.
const rootsModule = "golang.org/x/crypto/x509roots/fallback"

// listOf is a CycloneDX list of what is in the image of a program: the binary, each
// module that its linker found a package of, Go's own library, and the certificate
// authorities. It is read from the binary, not from go.mod: only what runs is listed.
func listOf(s *source, program, binary string) ([]byte, error) {
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("cannot read the binary %q: %w", program, err)
	}
	build, err := buildinfo.Read(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("cannot read what the binary %q was built from: %w", program, err)
	}
	sum := sha256.Sum256(content)
	bom := cyclonedx.NewBOM()
	bom.SerialNumber = uuid.NewSHA1(uuid.NameSpaceOID, sum[:]).URN()
	bom.Metadata = &cyclonedx.Metadata{
		Timestamp: s.created.Format(time.RFC3339),
		Component: &cyclonedx.Component{
			BOMRef: program, Type: cyclonedx.ComponentTypeApplication, Name: build.Path, Version: s.version,
			Hashes: &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
		},
	}
	bom.Components = new(components(build))
	var list bytes.Buffer
	encoder := cyclonedx.NewBOMEncoder(&list, cyclonedx.BOMFileFormatJSON).SetPretty(true)
	if err := encoder.EncodeVersion(bom, cyclonedx.SpecVersion1_6); err != nil {
		return nil, fmt.Errorf("cannot write the list of what is in %q: %w", program, err)
	}
	return list.Bytes(), nil
}

func components(build *debug.BuildInfo) []cyclonedx.Component {
	all := []cyclonedx.Component{moduleOf("std", strings.TrimPrefix(build.GoVersion, "go"), "")}
	for _, dep := range build.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		all = append(all, moduleOf(dep.Path, dep.Version, dep.Sum))
	}
	authorities := moduleOf(rootsModule, rootsVersion(), "")
	authorities.Type = cyclonedx.ComponentTypeData
	authorities.Description = "certificate authorities, in /" + rootsPath
	return append(all, authorities)
}

// moduleOf is a Go module. Its checksum is no checksum of a file, so it is a property.
func moduleOf(path, version, sum string) cyclonedx.Component {
	purl := "pkg:golang/" + path + "@" + version
	module := cyclonedx.Component{
		BOMRef: purl, Type: cyclonedx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: purl,
	}
	if sum != "" {
		module.Properties = &[]cyclonedx.Property{{Name: "go.sum", Value: sum}}
	}
	return module
}

// rootsVersion is the version of the certificate authorities that this program packs.
func rootsVersion() string {
	if own, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range own.Deps {
			if dep.Path == rootsModule {
				return dep.Version
			}
		}
	}
	return unknown
}
