package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"

	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// Folders within a Launcher's Dir.
const (
	logsFolder    = "logs"
	recordsFolder = "processes"
)

// A record is what is on file of a started process. The id alone would not do:
// once the process is gone, the system gives its id to another.
type record struct {
	Pid int `json:"pid"`
	// Identity is what the system says of the process: its binary and when it
	// began.
	Identity string `json:"identity"`
}

// Running are the names of the recorded processes in dir that live now, no matter
// which process started them, sorted.
func Running(ctx context.Context, dir string) ([]string, error) {
	var names []string
	err := eachRecord(dir, func(name string, r record) error {
		if r.lives(ctx) {
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// StopRecorded ends the recorded processes in dir that live, no matter which process
// started them, and returns their names, sorted. A process that merely has the id of one
// that is gone is left alone.
func StopRecorded(ctx context.Context, dir string) ([]string, error) {
	var names []string
	err := eachRecord(dir, func(name string, r record) error {
		if r.lives(ctx) {
			names = append(names, name)
			if err := r.end(ctx); err != nil {
				return fmt.Errorf("cannot end %q: %w", name, err)
			}
		}
		return forget(recordFile(dir, name))
	})
	return names, err
}

// eachRecord visits the records in reverse order of their names, which is the
// order to end them in: what uses the control plane before it.
func eachRecord(dir string, visit func(string, record) error) error {
	entries, err := os.ReadDir(filepath.Join(dir, recordsFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot read process records: %w", err)
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name() > entries[j].Name() })
	var failures []error
	for _, entry := range entries {
		r, err := readRecord(recordFile(dir, entry.Name()))
		if err == nil {
			err = visit(entry.Name(), r)
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// Pid is the id of a recorded process in dir.
func Pid(dir, name string) (int, error) {
	r, err := readRecord(recordFile(dir, name))
	return r.Pid, err
}

func recordFile(dir, name string) string { return filepath.Join(dir, recordsFolder, name) }

func readRecord(path string) (record, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return record{}, fmt.Errorf("cannot read process record: %w", err)
	}
	r := record{}
	if err := json.Unmarshal(content, &r); err != nil {
		return record{}, fmt.Errorf("cannot read process record %q: it is damaged: look whether the process runs, end it, and remove the file: %w", path, err)
	}
	return r, nil
}

func writeRecord(ctx context.Context, path string, pid int) error {
	identity, err := identify(ctx, pid)
	if err != nil {
		return fmt.Errorf("cannot identify process %d: %w", pid, err)
	}
	content, err := json.Marshal(record{Pid: pid, Identity: identity})
	if err != nil {
		return fmt.Errorf("cannot encode process record: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("cannot make folder for process records: %w", err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return fmt.Errorf("cannot write process record: %w", err)
	}
	return nil
}

func forget(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot remove process record: %w", err)
	}
	return nil
}

// lives says that the id still is the process that was started.
func (r record) lives(ctx context.Context) bool {
	identity, err := identify(ctx, r.Pid)
	return err == nil && identity == r.Identity
}

func (r record) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, wait.Patience(endTimeout))
	defer cancel()
	if err := syscall.Kill(r.Pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return wait.Eventually(ctx, func() (bool, error) { return !r.lives(ctx), nil })
}

// identify asks the system what the process is and when it began. It fails when
// there is no such process, or it ended and only waits to be collected.
func identify(ctx context.Context, pid int) (string, error) {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	stat, err := os.ReadFile(filepath.Join(proc, "stat"))
	if err != nil {
		return identifyByPS(ctx, pid)
	}
	// The name, in parentheses, may hold anything; what follows is in columns,
	// the first of them the state, the 20th the start time since boot.
	columns := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(columns) < 20 || columns[0] == "Z" || columns[0] == "X" {
		return "", fmt.Errorf("process %d has ended: %w", pid, os.ErrProcessDone)
	}
	binary, err := os.Readlink(filepath.Join(proc, "exe"))
	if err != nil {
		return "", fmt.Errorf("process %d has ended: %w", pid, os.ErrProcessDone)
	}
	// A binary that was rebuilt meanwhile is still the one that was started.
	return strings.TrimSuffix(binary, " (deleted)") + " " + columns[19], nil
}

// identifyByPS is for systems without /proc.
func identifyByPS(ctx context.Context, pid int) (string, error) {
	output, err := exec.CommandContext(ctx, "ps", "-o", "lstart=,comm=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return "", fmt.Errorf("process %d has ended: %w", pid, os.ErrProcessDone)
	}
	return strings.TrimSpace(string(output)), nil
}
