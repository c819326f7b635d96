package folder

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Names of what a folder holds.
const (
	lockFile       = "lock"
	portsFile      = "ports.json"
	readyFile      = "ready"
	kubeconfigFile = "kubeconfig"
)

// A Folder is a data folder that this process has to itself until Close.
type Folder struct {
	path string
	lock *os.File
	// ports has the locks of the ports that Port settled.
	ports map[int]*os.File
}

// Open makes the folder at path where it is missing, takes its lock and removes the ready mark that a
// killed process left. It fails when another living process has the folder.
func Open(path string) (*Folder, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("cannot find data folder %q: %w", path, err)
	}
	if err := os.MkdirAll(abs, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make data folder %q: %w", abs, err)
	}
	lock, err := takeLock(filepath.Join(abs, lockFile))
	if errors.Is(err, errInUse) {
		return nil, fmt.Errorf("cannot use data folder %q: %w: stop that process or choose another -dir", abs, err)
	}
	if err != nil {
		return nil, err
	}
	f := &Folder{path: abs, lock: lock, ports: map[int]*os.File{}}
	if err := f.ClearReady(); err != nil {
		return nil, fmt.Errorf("%w (and the lock: %v)", err, lock.Close())
	}
	return f, nil
}

// Path is the absolute path of a name in the folder; without names, of the folder itself.
func (f *Folder) Path(names ...string) string {
	return filepath.Join(append([]string{f.path}, names...)...)
}

// Close takes the ready mark away and gives the folder up, with its ports.
func (f *Folder) Close() error {
	failed := f.ClearReady()
	for _, lock := range append(slices.Collect(maps.Values(f.ports)), f.lock) {
		if err := lock.Close(); err != nil {
			failed = errors.Join(failed, fmt.Errorf("cannot give up data folder %q: %w", f.path, err))
		}
	}
	return failed
}
