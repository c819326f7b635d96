package suite //nolint:testpackage // the machine that runs this has a browser or has none

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestChooseChromium(t *testing.T) {
	t.Parallel()
	there := func(name string) (string, error) { return "/usr/bin/" + name, nil }
	missing := func(name string) (string, error) { return "", &exec.Error{Name: name, Err: exec.ErrNotFound} }
	for name, test := range map[string]struct {
		reason   string
		look     func(string) (string, error)
		required bool
		path     string
		line     string
		err      string
	}{
		"There":            {reason: "it is used", look: there, path: "/usr/bin/chromium"},
		"ThereAndRequired": {reason: "it is used", look: there, required: true, path: "/usr/bin/chromium"},
		"Missing": {
			reason: "one line names the package", look: missing,
			line: "SKIPPED: the browser scenarios of svcat ui: install the Debian package chromium to run them",
		},
		"MissingAndRequired": {
			reason: "continuous integration skips nothing", look: missing, required: true,
			err: `cannot test a page without a browser: install the Debian package chromium: exec: "chromium": executable file not found in $PATH`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, line, err := chooseChromium(test.look, test.required)
			assert.Equal(t, test.path, path, test.reason)
			assert.Equal(t, test.line, line, test.reason)
			if test.err == "" {
				assert.NoError(t, err, test.reason)
			} else {
				assert.EqualError(t, err, test.err, test.reason)
			}
		})
	}
}

func TestChooseAxe(t *testing.T) {
	t.Parallel()
	there := func() ([]byte, error) { return []byte("script"), nil }
	missing := func() ([]byte, error) { return nil, os.ErrNotExist }
	for name, test := range map[string]struct {
		reason            string
		read              func() ([]byte, error)
		required          bool
		script, line, err string
	}{
		"There":            {reason: "it is used", read: there, script: "script"},
		"ThereAndRequired": {reason: "it is used", read: there, required: true, script: "script"},
		"Missing": {
			reason: "one line names the command", read: missing,
			line: "SKIPPED: the check of accessibility of svcat ui: make bin/axe.min.js fetches axe-core with npm",
		},
		"MissingAndRequired": {
			reason: "continuous integration skips nothing", read: missing, required: true,
			err: "cannot check accessibility without axe-core: run make bin/axe.min.js, which needs npm: file does not exist",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script, line, err := chooseAxe(test.read, test.required)
			assert.Equal(t, test.script, script, test.reason)
			assert.Equal(t, test.line, line, test.reason)
			if test.err == "" {
				assert.NoError(t, err, test.reason)
			} else {
				assert.EqualError(t, err, test.err, test.reason)
			}
		})
	}
}

// Packages that run one after the other list theirs in one file.
func TestListSkipped(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "skipped")
	require.NoError(t, listSkipped(file, "one"))
	require.NoError(t, listSkipped(file, "two"))
	list, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "one\ntwo\n", string(list))
	require.NoError(t, listSkipped("", "not requested"))
	require.Error(t, listSkipped(filepath.Join(file, "none"), "lost"))
}
