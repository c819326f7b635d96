package measure

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// CPU is the processor time that a process has used, in user and kernel, of
// all its threads that live: Go ends none. It is exact to the nanosecond where
// the process is idle, unlike what times and getrusage tell.
func CPU(pid int) (time.Duration, error) {
	threads, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "schedstat"))
	if err != nil || len(threads) == 0 {
		return 0, errors.Join(fmt.Errorf("cannot tell the processor time of process %d: it is gone, or this system has no /proc/PID/task/*/schedstat", pid), err)
	}
	var total time.Duration
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			return 0, fmt.Errorf("cannot tell the processor time of process %d: %w", pid, err)
		}
		used, _, _ := strings.Cut(string(text), " ")
		nanoseconds, err := strconv.ParseInt(used, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("cannot read the processor time of process %d: %w", pid, err)
		}
		total += time.Duration(nanoseconds)
	}
	return total, nil
}

// Lines of /proc/PID/status.
const (
	ResidentNow  = "VmRSS"
	ResidentPeak = "VmHWM"
)

// Memory is the memory that a process occupies, in MB of 10^6 bytes.
func Memory(pid int, line string) (float64, error) {
	path := filepath.Join("/proc", strconv.Itoa(pid), "status")
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("cannot tell the memory of process %d: %w", pid, err)
	}
	_, rest, found := strings.Cut(string(text), line+":")
	kilobytes, _, ended := strings.Cut(rest, " kB")
	if !found || !ended {
		return 0, fmt.Errorf("cannot tell the memory of process %d: %s has no %s", pid, path, line)
	}
	value, err := strconv.ParseFloat(strings.TrimSpace(kilobytes), 64)
	if err != nil {
		return 0, fmt.Errorf("cannot read the memory of process %d: %w", pid, err)
	}
	return value * 1024 / 1e6, nil
}
