package certs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// The names of the serving files: those of a Secret of type kubernetes.io/tls,
// so that a mounted Secret and a directory written here look the same.
const (
	// CertFile is the leaf's name in a serving directory.
	CertFile = "tls.crt"
	// KeyFile is the name of the leaf's key there.
	KeyFile = "tls.key"
)

// WriteServing writes leaf to dir as CertFile and KeyFile, making dir if it is
// absent. Each file is replaced whole, so that a server that watches the
// directory never reads half a file; the key is readable by its owner only.
func WriteServing(dir string, leaf Pair) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("cannot make serving directory %q: %w", dir, err)
	}
	// The key goes first: a server that reloads on the certificate's change
	// then finds its key.
	return errors.Join(
		replace(filepath.Join(dir, KeyFile), leaf.Key, 0o600),
		replace(filepath.Join(dir, CertFile), leaf.Cert, 0o644),
	)
}

func replace(path string, content []byte, mode os.FileMode) error {
	next := path + ".next"
	if err := os.WriteFile(next, content, mode); err != nil {
		return fmt.Errorf("cannot write %q: %w", path, err)
	}
	if err := os.Rename(next, path); err != nil {
		return fmt.Errorf("cannot replace %q: %w", path, err)
	}
	return nil
}
