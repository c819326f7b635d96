package folder

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

var errInUse = errors.New("it is in use")

// takeLock locks the file at path for as long as this process lives. The kernel drops the lock with the
// process however it dies, so a lock file that merely exists does not lock.
func takeLock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open lock %q: %w", path, err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w by %s", errInUse, holder(path))
		}
		return nil, fmt.Errorf("cannot lock %q: %w", path, err)
	}
	if err := errors.Join(file.Truncate(0), writePID(file)); err != nil {
		defer file.Close()
		return nil, fmt.Errorf("cannot write lock %q: %w", path, err)
	}
	return file, nil
}

// writePID is for the message of a process that finds the lock taken; no
// decision depends on it.
func writePID(file *os.File) error {
	_, err := file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// holder names the process that wrote its id to the lock file.
func holder(path string) string {
	content, err := os.ReadFile(path)
	if pid := strings.TrimSpace(string(content)); err == nil && pid != "" {
		return "process " + pid
	}
	return "another process"
}
