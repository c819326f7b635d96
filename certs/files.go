package certs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The names of the serving files: those of a Secret of type kubernetes.io/tls,
// so that a mounted Secret and a directory written here look the same.
const (
	// CertFile is the leaf's name in a serving directory.
	CertFile = "tls.crt"
	// KeyFile is the name of the leaf's key there.
	KeyFile = "tls.key"
	// CAFile is the name of the certificate of the authority that signed the leaf.
	CAFile = "ca.crt"
)

// The links and folders below a serving directory are as a kubelet makes them of a
// mounted Secret: each file is a link through currentLink, which is replaced whole. So
// all files change at the same moment, and no reader finds a leaf beside the key of
// another.
const (
	currentLink = "..data"
	pairPrefix  = "..pair-"
)

// WriteServing writes leaf, and the certificate of the authority that signed it, to
// dir as CertFile, KeyFile and CAFile, making dir if it is absent. The three change at
// the same moment; the key is readable by its owner only.
func WriteServing(dir string, leaf Pair, ca []byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("cannot make serving directory %q: %w", dir, err)
	}
	pair, err := os.MkdirTemp(dir, pairPrefix)
	if err != nil {
		return fmt.Errorf("cannot make a folder in serving directory %q: %w", dir, err)
	}
	err = errors.Join(
		write(filepath.Join(pair, KeyFile), leaf.Key, 0o600),
		write(filepath.Join(pair, CertFile), leaf.Cert, 0o644),
		write(filepath.Join(pair, CAFile), ca, 0o644),
	)
	if err != nil {
		return errors.Join(err, os.RemoveAll(pair))
	}
	if err := link(dir, currentLink, filepath.Base(pair)); err != nil {
		return errors.Join(err, os.RemoveAll(pair))
	}
	for _, name := range []string{KeyFile, CertFile, CAFile} {
		if err := link(dir, name, filepath.Join(currentLink, name)); err != nil {
			return err
		}
	}
	return removeOthers(dir, filepath.Base(pair))
}

func write(path string, content []byte, mode os.FileMode) error {
	if err := os.WriteFile(path, content, mode); err != nil {
		return fmt.Errorf("cannot write %q: %w", path, err)
	}
	return nil
}

// link makes name a symbolic link to target. A link that is correct already stays, so that
// watchers of the file see no change.
func link(dir, name, target string) error {
	path := filepath.Join(dir, name)
	if now, err := os.Readlink(path); err == nil && now == target {
		return nil
	}
	next := filepath.Join(dir, ".."+name+".next")
	if err := os.Remove(next); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("cannot replace %q: %w", path, err)
	}
	if err := os.Symlink(target, next); err != nil {
		return fmt.Errorf("cannot replace %q: %w", path, err)
	}
	if err := os.Rename(next, path); err != nil {
		return fmt.Errorf("cannot replace %q: %w", path, err)
	}
	return nil
}

// removeOthers removes the folders of earlier pairs, those of a process that was killed
// while it wrote among them. A watcher of a file learns of the change by that.
func removeOthers(dir, current string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("cannot list serving directory %q: %w", dir, err)
	}
	var failed []error
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), pairPrefix) && entry.Name() != current {
			failed = append(failed, os.RemoveAll(filepath.Join(dir, entry.Name())))
		}
	}
	if err := errors.Join(failed...); err != nil {
		return fmt.Errorf("cannot tidy serving directory %q: %w", dir, err)
	}
	return nil
}

// readServing reads what WriteServing wrote, or a kubelet; what is absent or cannot be
// read is empty.
func readServing(dir string) (leaf Pair, ca []byte) {
	read := func(name string) []byte {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil
		}
		return content
	}
	return Pair{Cert: read(CertFile), Key: read(KeyFile)}, read(CAFile)
}
