package suite

import (
	"fmt"
	"os"
	"os/exec"
)

const (
	// RequireChromiumVariable names the environment variable that, set to 1, makes a
	// missing Chromium an error, as continuous integration does.
	RequireChromiumVariable = "DEFAULTPLAN_REQUIRE_CHROMIUM"
	// SkippedVariable names the environment variable with the file that skipped
	// packages are listed in: go test does not show what a package prints that passes.
	SkippedVariable = "DEFAULTPLAN_SKIPPED"
)

// Chromium finds the browser for scenarios of pages. Where there is none, the path is
// empty and one line says so, on stderr and in the file that SkippedVariable names: the
// caller skips its scenarios. With RequireChromiumVariable it is an error instead.
func Chromium() (path string, err error) {
	path, line, err := chooseChromium(exec.LookPath, os.Getenv(RequireChromiumVariable) == "1")
	if err != nil || line == "" {
		return path, err
	}
	if _, err := fmt.Fprintln(os.Stderr, line); err != nil {
		return "", fmt.Errorf("cannot report skipped scenarios: %w", err)
	}
	return "", listSkipped(os.Getenv(SkippedVariable), line)
}

// chooseChromium decides which browser is used, or which line reports that there is
// none.
func chooseChromium(look func(name string) (string, error), required bool) (path, line string, err error) {
	path, err = look("chromium")
	switch {
	case err == nil:
		return path, "", nil
	case required:
		return "", "", fmt.Errorf("cannot test a page without a browser: install the Debian package chromium: %w", err)
	}
	return "", "SKIPPED: the browser scenarios of svcat ui: install the Debian package chromium to run them", nil
}

// listSkipped appends a line to a file; no name, no file.
func listSkipped(file, line string) error {
	if file == "" {
		return nil
	}
	list, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // make test names the file
	if err != nil {
		return fmt.Errorf("cannot list skipped scenarios: %w", err)
	}
	_, err = fmt.Fprintln(list, line)
	if closed := list.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("cannot list skipped scenarios: %w", err)
	}
	return nil
}
