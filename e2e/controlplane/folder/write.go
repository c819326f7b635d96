package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile replaces the file at path whole, readable by its owner only: who reads it meanwhile sees the old
// content or the new, never half of it.
func WriteFile(path string, content []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("cannot write %q: %w", path, err)
	}
	// After the rename there is nothing left to remove, and the error says just that.
	defer os.Remove(temp.Name())
	_, err = temp.Write(content)
	if err := errors.Join(err, temp.Close()); err != nil {
		return fmt.Errorf("cannot write %q: %w", path, err)
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return fmt.Errorf("cannot write %q: %w", path, err)
	}
	return nil
}

// MarkReady writes the ready mark: the line that says how to reach the control plane.
func (f *Folder) MarkReady(line string) error {
	return WriteFile(f.Path(readyFile), []byte(line+"\n"))
}

// ClearReady takes the ready mark away.
func (f *Folder) ClearReady() error {
	if err := os.Remove(f.Path(readyFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot remove ready mark: %w", err)
	}
	return nil
}
