package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is the UID that runs the programs. No node has a user with it.
const user = "65532"

// rootsPath is where Go's TLS looks for the certificate authorities that it trusts.
const rootsPath = "etc/ssl/certs/ca-certificates.crt"

// An entry is a folder (content nil) or a file of an archive, all root's and of 1970.
type entry struct {
	path    string
	mode    int64
	content []byte
}

// baseLayer is what is below every program: who runs it, a place for temporary files,
// and the certificate authorities by which a broker's certificate is judged. It is the
// same for every program, version and platform, so a node has it once.
func baseLayer() (v1.Layer, error) {
	const folder, readable, writable = 0o755, 0o644, 0o1777
	return layer([]entry{
		{path: "etc/", mode: folder},
		{path: "etc/group", mode: readable, content: []byte("root:x:0:\nnonroot:x:" + user + ":\n")},
		{path: "etc/passwd", mode: readable, content: []byte("root:x:0:0:root:/:/nologin\nnonroot:x:" + user + ":" + user + ":nonroot:/:/nologin\n")},
		{path: "etc/ssl/", mode: folder},
		{path: "etc/ssl/certs/", mode: folder},
		{path: rootsPath, mode: readable, content: roots()},
		{path: "tmp/", mode: writable},
	})
}

// roots are Mozilla's certificate authorities for servers, as PEM, without those that are
// trusted only under a condition: a file cannot say one.
func roots() []byte {
	var file bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			file.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return file.Bytes()
}

// programLayer has a binary in the root folder, and nothing else.
func programLayer(name, binary string) (v1.Layer, error) {
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("cannot read the binary %q: %w", name, err)
	}
	return layer([]entry{{path: name, mode: 0o755, content: content}})
}

// layer is a layer of an image with these entries.
func layer(entries []entry) (v1.Layer, error) {
	packed, err := pack(entries)
	if err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed)), nil }
	packedLayer, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
	if err != nil {
		return nil, fmt.Errorf("cannot compress a layer: %w", err)
	}
	return packedLayer, nil
}

// pack is a tar archive of entries in their order.
func pack(entries []entry) ([]byte, error) {
	var packed bytes.Buffer
	writer := tar.NewWriter(&packed)
	for _, e := range entries {
		header := &tar.Header{Name: e.path, Mode: e.mode, Size: int64(len(e.content)), Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if e.content == nil {
			header.Typeflag = tar.TypeDir
		}
		if err := writer.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("cannot pack %q: %w", e.path, err)
		}
		if _, err := writer.Write(e.content); err != nil {
			return nil, fmt.Errorf("cannot pack %q: %w", e.path, err)
		}
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("cannot pack an archive: %w", err)
	}
	return packed.Bytes(), nil
}
