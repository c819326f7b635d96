package process

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// sleeper starts a process that lives until it is ended.
func sleeper(t *testing.T, l Launcher, name string) *Process {
	t.Helper()
	p, err := l.Start(t.Context(), Command{Name: name, Binary: "/bin/sleep", Args: []string{"600"}})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, p.End(context.Background(), syscall.SIGKILL)) })
	return p
}

func TestStopRecordedEndsWhatWasStarted(t *testing.T) {
	t.Parallel()
	l := Launcher{Dir: t.TempDir()}
	a, b := sleeper(t, l, "a"), sleeper(t, l, "b")
	running, err := Running(t.Context(), l.Dir)
	require.NoError(t, err)
	assert.Equal(t, []string{"b", "a"}, running)

	ended, err := StopRecorded(t.Context(), l.Dir)
	require.NoError(t, err)
	require.Equal(t, []string{"b", "a"}, ended, "the control plane, first by name, is ended last")
	<-a.ended
	<-b.ended
	running, err = Running(t.Context(), l.Dir)
	require.NoError(t, err)
	assert.Empty(t, running)
	ended, err = StopRecorded(t.Context(), l.Dir)
	require.NoError(t, err, "safe when nothing runs")
	assert.Empty(t, ended)
}

func TestStopRecordedLeavesOthersAlone(t *testing.T) { //nolint:tparallel // the cases share one record
	t.Parallel()
	l := Launcher{Dir: t.TempDir()}
	p := sleeper(t, l, "a")
	content, err := os.ReadFile(p.record)
	require.NoError(t, err)
	original := record{}
	require.NoError(t, json.Unmarshal(content, &original))

	cases := map[string]struct {
		reason string
		change func(*record)
	}{
		"OtherBinary": {reason: "the id now is another program", change: func(r *record) { r.Identity = "/bin/other " + "1" }},
		"OtherStart":  {reason: "the id now is a later process of the same binary", change: func(r *record) { r.Identity += "1" }},
		"NoProcess":   {reason: "no process has the id", change: func(r *record) { r.Pid = 1 << 30 }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			changed := original
			tc.change(&changed)
			content, err := json.Marshal(changed)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(p.record, content, 0o600))

			ended, err := StopRecorded(t.Context(), l.Dir)
			require.NoError(t, err, tc.reason)
			assert.Empty(t, ended, tc.reason)
			assert.True(t, original.lives(t.Context()), tc.reason)
			assert.NoFileExists(t, p.record, "a stale record is cleared away")
		})
	}
}

func TestDamagedRecordIsSaid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, recordsFolder), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, recordsFolder, "webhook-0"), []byte("{"), 0o600))
	_, err := StopRecorded(t.Context(), dir)
	require.ErrorContains(t, err, "is damaged")
}

func TestProcessThatEndsIsNoticed(t *testing.T) {
	t.Parallel()
	l := Launcher{Dir: t.TempDir()}
	p, err := l.Start(t.Context(), Command{Name: "short", Binary: "/bin/sh", Args: []string{"-c", "echo because; exit 3"}})
	require.NoError(t, err)
	<-p.ended
	err = p.Gone()
	require.ErrorContains(t, err, "exit status 3")
	require.ErrorContains(t, err, "because", "the end of its log is part of the error")
	require.NoError(t, p.End(t.Context(), syscall.SIGTERM), "ending it again is no error")

	_, err = l.Start(t.Context(), Command{Name: "none", Binary: filepath.Join(l.Dir, "none")})
	require.ErrorContains(t, err, `cannot start "none"`)
}

func TestProcessThatIgnoresTheSignalIsKilled(t *testing.T) {
	t.Parallel()
	l := Launcher{Dir: t.TempDir()}
	p, err := l.Start(t.Context(), Command{Name: "deaf", Binary: "/bin/sh", Args: []string{"-c", "trap '' TERM; echo deaf; while :; do sleep 0.1; done"}})
	require.NoError(t, err)
	require.NoError(t, wait.Eventually(t.Context(), func() (bool, error) {
		content, err := os.ReadFile(p.log)
		return string(content) == "deaf\n", err
	}))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorContains(t, p.End(ctx, syscall.SIGTERM), "was killed")
	<-p.ended
}
