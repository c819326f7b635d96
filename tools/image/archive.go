package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
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
