package page

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// An Origin is when, of which commit and on what machine something was measured.
type Origin struct {
	Date, Commit, Machine string
}

// String is a line of the page.
func (o Origin) String() string {
	return fmt.Sprintf("Measured on %s, commit %s, on %s.", o.Date, o.Commit, o.Machine)
}

// Here is the origin of what is measured now. The files that a run writes do not count as changes of
// its commit.
func Here(ctx context.Context, written ...string) (Origin, error) {
	commit, err := output(ctx, "git", "rev-parse", "--short=12", "HEAD")
	if err != nil {
		return Origin{}, err
	}
	args := []string{"status", "--porcelain", "--", ":/"}
	for _, name := range written {
		args = append(args, ":(top,exclude,glob)**/"+filepath.Base(name))
	}
	changes, err := output(ctx, "git", args...)
	if err != nil {
		return Origin{}, err
	}
	if changes != "" {
		commit += " with changes"
	}
	return Origin{Date: time.Now().UTC().Format(time.DateOnly), Commit: commit, Machine: machine(ctx)}, nil
}

func output(ctx context.Context, name string, args ...string) (string, error) {
	text, err := exec.CommandContext(ctx, name, args...).Output()
	if err != nil {
		return "", fmt.Errorf("cannot run %s %s: %w", name, strings.Join(args, " "), err)
	}
	return string(bytes.TrimSpace(text)), nil
}

// machine describes this one: what is not known is left out.
func machine(ctx context.Context) string {
	lscpu, _ := output(ctx, "env", "LC_ALL=C", "lscpu")
	cpuinfo, _ := os.ReadFile("/proc/cpuinfo")
	meminfo, _ := os.ReadFile("/proc/meminfo")
	return describe(runtime.NumCPU(), lscpu+"\n"+string(cpuinfo), string(meminfo), runtime.Version())
}

// describe is a machine by its number of processors, what lscpu, /proc/cpuinfo and /proc/meminfo say, and Go's version.
func describe(cores int, processor, meminfo, goVersion string) string {
	what := fmt.Sprintf("%d cores", cores)
	if model := field(processor, "Model name"); model != "" {
		what += " of " + model
	}
	if megahertz, err := strconv.ParseFloat(cmp.Or(field(processor, "CPU max MHz"), field(processor, "cpu MHz")), 64); err == nil {
		what += fmt.Sprintf(" at %.0f MHz", megahertz)
	}
	kilobytes, _, _ := strings.Cut(field(meminfo, "MemTotal"), " ")
	if total, err := strconv.ParseFloat(kilobytes, 64); err == nil {
		what += fmt.Sprintf(", %.0f GB of memory", total*1024/1e9)
	}
	return what + ", " + strings.Replace(goVersion, "go", "Go ", 1)
}

// field is a value of lines such as "name: value".
func field(text, name string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if key, value, is := strings.Cut(line, ":"); is && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
