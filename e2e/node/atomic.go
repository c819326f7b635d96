package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// dataLink is the link through which all files of a volume change at the same time.
const dataLink = "..data"

// write makes the files the volume's content at once, as a kubelet does: a reader sees
// the old ones or the new ones. The version says when there is nothing to do.
func (v *volume) write(files map[string][]byte, version string) error {
	if v.written == version && version != "" {
		return nil
	}
	fresh, err := os.MkdirTemp(v.dir, "..20")
	if err != nil {
		return fmt.Errorf("cannot make folder of a version: %w", err)
	}
	for name, content := range files {
		file := filepath.Join(fresh, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return fmt.Errorf("cannot make folder of a file: %w", err)
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return fmt.Errorf("cannot write file %q: %w", name, err)
		}
	}
	old, err := os.Readlink(filepath.Join(v.dir, dataLink))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("cannot read link: %w", err)
	}
	if err := v.turn(filepath.Base(fresh)); err != nil {
		return err
	}
	if err := v.link(files); err != nil {
		return err
	}
	if old != "" {
		if err := os.RemoveAll(filepath.Join(v.dir, old)); err != nil {
			return fmt.Errorf("cannot remove old version: %w", err)
		}
	}
	v.written = version
	return nil
}

// turn makes the link lead to the folder.
func (v *volume) turn(folder string) error {
	link := filepath.Join(v.dir, dataLink)
	if err := errors.Join(os.Symlink(folder, link+"_tmp"), os.Rename(link+"_tmp", link)); err != nil {
		return fmt.Errorf("cannot turn link: %w", err)
	}
	return nil
}

// link makes the names of the files, and removes those that are no more.
func (v *volume) link(files map[string][]byte) error {
	wanted := map[string]bool{}
	for name := range files {
		first, _, _ := strings.Cut(name, "/")
		wanted[first] = true
		err := os.Symlink(filepath.Join(dataLink, first), filepath.Join(v.dir, first))
		if err != nil && !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("cannot link %q: %w", first, err)
		}
	}
	entries, err := os.ReadDir(v.dir)
	if err != nil {
		return fmt.Errorf("cannot list volume: %w", err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "..") || wanted[entry.Name()] {
			continue
		}
		if err := os.Remove(filepath.Join(v.dir, entry.Name())); err != nil {
			return fmt.Errorf("cannot remove %q: %w", entry.Name(), err)
		}
	}
	return nil
}
