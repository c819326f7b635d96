package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// tarGz is a compressed tar archive: the same entries make the same bytes.
func tarGz(entries []entry) ([]byte, error) {
	packed, err := pack(entries)
	if err != nil {
		return nil, err
	}
	var compressed bytes.Buffer
	writer := gzip.NewWriter(&compressed)
	if _, err := writer.Write(packed); err != nil {
		return nil, fmt.Errorf("cannot compress an archive: %w", err)
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("cannot compress an archive: %w", err)
	}
	return compressed.Bytes(), nil
}

// zipped is a zip archive, as Windows opens it.
func zipped(entries []entry) ([]byte, error) {
	var packed bytes.Buffer
	writer := zip.NewWriter(&packed)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.path, Method: zip.Deflate}
		header.SetMode(fs.FileMode(e.mode) & fs.ModePerm) //nolint:gosec // a mode has nine bits
		file, err := writer.CreateHeader(header)
		if err != nil {
			return nil, fmt.Errorf("cannot pack %q: %w", e.path, err)
		}
		if _, err := file.Write(e.content); err != nil {
			return nil, fmt.Errorf("cannot pack %q: %w", e.path, err)
		}
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("cannot pack an archive: %w", err)
	}
	return packed.Bytes(), nil
}

// unpack writes the files of a tar archive into a folder.
func unpack(packed []byte, folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fmt.Errorf("cannot open the folder %q: %w", folder, err)
	}
	defer func() { _ = root.Close() }()
	for files := tar.NewReader(bytes.NewReader(packed)); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = unpackOne(root, header, files)
		}
		if err != nil {
			return fmt.Errorf("cannot unpack an archive: %w", err)
		}
	}
}

func unpackOne(root *os.Root, header *tar.Header, content io.Reader) error {
	switch header.Typeflag {
	case tar.TypeReg:
		read, err := io.ReadAll(content)
		return errors.Join(err, root.MkdirAll(path.Dir(header.Name), 0o755), root.WriteFile(header.Name, read, 0o644))
	case tar.TypeDir, tar.TypeXGlobalHeader:
		return nil
	}
	return fmt.Errorf("%q is neither a file nor a folder", header.Name)
}

// folderEntries are the files below a folder, sorted by their paths, each below a prefix.
func folderEntries(folder, prefix string) ([]entry, error) {
	var entries []entry
	files := os.DirFS(folder)
	err := fs.WalkDir(files, ".", func(name string, of fs.DirEntry, err error) error {
		if err != nil || of.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		entries = append(entries, entry{path: path.Join(prefix, name), mode: 0o644, content: content})
		return err //nolint:wrapcheck // wrapped below
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the folder %q: %w", folder, err)
	}
	return entries, nil
}
