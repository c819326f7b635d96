package suite

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// warnOutdated says which binaries of a folder were built before the newest source of the
// project at root: tests of them would tell of what was. It only says so: a user may want
// just that. Binaries that the project does not build are left out.
func warnOutdated(out io.Writer, root, folder string, binaries []string) error {
	newest, source, err := newestSource(root)
	if err != nil {
		return err
	}
	for _, name := range binaries {
		if _, err := os.Stat(filepath.Join(root, "cmd", name)); err != nil {
			continue
		}
		binary, err := os.Stat(filepath.Join(folder, name))
		if err != nil || !binary.ModTime().Before(newest) {
			continue
		}
		if _, err := fmt.Fprintf(out, "warning: binary %q is older than %s: run `make build` to test what is there now\n", name, source); err != nil {
			return fmt.Errorf("cannot warn: %w", err)
		}
	}
	return nil
}

// newestSource is the Go file of the project that was written last, tests left out.
func newestSource(root string) (newest time.Time, source string, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name := filepath.Base(path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // a user is writing here
			return nil
		case err != nil:
			return err
		case entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "e2e" || name == "bin" || name == "tools"):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && info.ModTime().After(newest) {
			newest, source = info.ModTime(), path
		}
		return err
	})
	if err != nil {
		return newest, "", fmt.Errorf("cannot look for the newest source: %w", err)
	}
	return newest, source, nil
}
