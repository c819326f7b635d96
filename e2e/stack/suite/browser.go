package suite

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const (
	// RequireChromiumVariable names the environment variable that, set to 1, makes a
	// missing Chromium, or axe-core, an error, as continuous integration does.
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
	if err != nil {
		return "", err
	}
	return path, reportSkipped(line)
}

// Axe reads axe-core, the script that finds what is wrong with the accessibility of a page.
// It is fetched by make bin/axe.min.js. Where it was not, the script is empty and one line
// says so, as for Chromium.
func Axe() (script string, err error) {
	here, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("cannot find axe-core: %w", err)
	}
	root, err := projectRoot(here)
	if err != nil {
		return "", err
	}
	read := func() ([]byte, error) { return os.ReadFile(filepath.Join(root, "bin", "axe.min.js")) }
	script, line, err := chooseAxe(read, os.Getenv(RequireChromiumVariable) == "1")
	if err != nil {
		return "", err
	}
	return script, reportSkipped(line)
}

// chooseAxe decides which script is used, or which line reports that there is none.
func chooseAxe(read func() ([]byte, error), required bool) (script, line string, err error) {
	text, err := read()
	switch {
	case err == nil:
		return string(text), "", nil
	case required:
		return "", "", fmt.Errorf("cannot check accessibility without axe-core: run make bin/axe.min.js, which needs npm: %w", err)
	}
	return "", "SKIPPED: the check of accessibility of svcat ui: make bin/axe.min.js fetches axe-core with npm", nil
}

// reportSkipped prints a line on stderr and into the file that SkippedVariable names; an
// empty one is nothing to report.
func reportSkipped(line string) error {
	if line == "" {
		return nil
	}
	if _, err := fmt.Fprintln(os.Stderr, line); err != nil {
		return fmt.Errorf("cannot report skipped scenarios: %w", err)
	}
	return listSkipped(os.Getenv(SkippedVariable), line)
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
