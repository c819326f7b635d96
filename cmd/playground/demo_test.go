package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/stack/process"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// TestDemoLeavesNothingRunning ends the demo at its worst moment: started, but
// not finished.
func TestDemoLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		signal syscall.Signal
		linux  bool
	}{
		"Terminated": {reason: "a Ctrl-C ends all of it, in order", signal: syscall.SIGTERM},
		"Killed":     {reason: "the kernel ends what we cannot", signal: syscall.SIGKILL, linux: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.linux && runtime.GOOS != "linux" {
				return // elsewhere make down is what is left
			}
			dir := t.TempDir()
			demo := exec.CommandContext(t.Context(), filepath.Join(binaries(), "playground"), "demo", "--dir", dir)
			require.NoError(t, demo.Start())
			home := filepath.Join(dir, mainStory)
			require.NoError(t, wait.Eventually(t.Context(), func() (bool, error) {
				_, err := os.Stat(filepath.Join(home, "controlplane", "ready"))
				return err == nil, nil
			}))
			require.NoError(t, demo.Process.Signal(tc.signal))
			require.Error(t, demo.Wait(), "a story that was not told to its end is no success")
			require.NoError(t, wait.Eventually(t.Context(), func() (bool, error) {
				running, err := process.Running(t.Context(), home)
				return err == nil && len(running) == 0, err
			}), tc.reason)
			if tc.signal != syscall.SIGKILL {
				assert.NoFileExists(t, filepath.Join(home, "controlplane", "ready"), "it ended by itself, it was not killed")
			}
		})
	}
}

// TestMainStoryIsTold tells what the README shows.
func TestMainStoryIsTold(t *testing.T) { //nolint:paralleltest // alone, it is told in the time that it takes
	said, err := command(t.Context(), "demo", "--bin", binaries())
	require.NoError(t, err, said)
	assert.Contains(t, said, "servicebinding.io/mysql")
	assert.Contains(t, said, "every answer was a real one")
}
