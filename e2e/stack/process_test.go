package stack

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sleeper starts a process that lives until it is ended.
func sleeper(t *testing.T, o *Options, name string) *process {
	t.Helper()
	p, err := o.start(t.Context(), command{name: name, binary: "/bin/sleep", args: []string{"600"}})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, p.end(context.Background(), syscall.SIGKILL)) })
	return p
}

func TestStopRecordedEndsWhatWasStarted(t *testing.T) {
	t.Parallel()
	o := &Options{Dir: t.TempDir()}
	a, b := sleeper(t, o, "a"), sleeper(t, o, "b")
	running, err := Running(t.Context(), o.Dir)
	require.NoError(t, err)
	assert.Equal(t, []string{"b", "a"}, running)

	ended, err := StopRecorded(t.Context(), o.Dir)
	require.NoError(t, err)
	require.Equal(t, []string{"b", "a"}, ended, "the control plane, first by name, is ended last")
	<-a.ended
	<-b.ended
	running, err = Running(t.Context(), o.Dir)
	require.NoError(t, err)
	assert.Empty(t, running)
	ended, err = StopRecorded(t.Context(), o.Dir)
	require.NoError(t, err, "safe when nothing runs")
	assert.Empty(t, ended)
}

func TestStopRecordedLeavesOthersAlone(t *testing.T) { //nolint:tparallel // the cases share one record
	t.Parallel()
	o := &Options{Dir: t.TempDir()}
	p := sleeper(t, o, "a")
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

			ended, err := StopRecorded(t.Context(), o.Dir)
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
	o := &Options{Dir: t.TempDir()}
	p, err := o.start(t.Context(), command{name: "short", binary: "/bin/sh", args: []string{"-c", "echo because; exit 3"}})
	require.NoError(t, err)
	<-p.ended
	err = p.gone()
	require.ErrorContains(t, err, "exit status 3")
	require.ErrorContains(t, err, "because", "the end of its log is part of the error")
	require.NoError(t, p.end(t.Context(), syscall.SIGTERM), "ending it again is no error")

	_, err = o.start(t.Context(), command{name: "none", binary: filepath.Join(o.Dir, "none")})
	require.ErrorContains(t, err, `cannot start "none"`)
}

func TestProcessThatIgnoresTheSignalIsKilled(t *testing.T) {
	t.Parallel()
	o := &Options{Dir: t.TempDir()}
	p, err := o.start(t.Context(), command{name: "deaf", binary: "/bin/sh", args: []string{"-c", "trap '' TERM; echo deaf; while :; do sleep 0.1; done"}})
	require.NoError(t, err)
	require.NoError(t, Eventually(t.Context(), func() (bool, error) {
		content, err := os.ReadFile(p.log)
		return string(content) == "deaf\n", err
	}))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorContains(t, p.end(ctx, syscall.SIGTERM), "was killed")
	<-p.ended
}

func TestEventually(t *testing.T) {
	t.Parallel()
	asked := 0
	require.NoError(t, Eventually(t.Context(), func() (bool, error) {
		asked++
		return asked == 3, nil
	}))
	assert.Equal(t, 3, asked)

	broken := errors.New("still broken")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := Eventually(ctx, func() (bool, error) { return false, broken })
	require.ErrorIs(t, err, broken, "the reason is not lost")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, Eventually(t.Context(), func() (bool, error) { return true, broken }), broken, "true with an error ends the wait")
}

func TestOptionsSayWhatIsMissing(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	for _, name := range []string{"controlplane", "kubectl"} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), nil, 0o700))
	}
	cases := map[string]struct {
		reason  string
		options Options
		want    string
	}{
		"NoDir":         {reason: "nothing is written anywhere by accident", options: Options{Bin: bin}, want: "Dir and Bin are required"},
		"Negative":      {reason: "a number of processes", options: Options{Dir: "d", Bin: bin, Webhooks: -1}, want: "allowed is 0 or more"},
		"DetachedTwo":   {reason: "the balancer would end with us", options: Options{Dir: "d", Bin: bin, Webhooks: 2, Detached: true}, want: "at most one webhook"},
		"NoWebhook":     {reason: "it says how to get it", options: Options{Dir: "d", Bin: bin, Webhooks: 1}, want: "run `make build`"},
		"WithoutIsFine": {reason: "no webhook is needed for none", options: Options{Dir: "d", Bin: bin}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tc.options.validate()
			if tc.want == "" {
				require.NoError(t, err, tc.reason)
				assert.True(t, filepath.IsAbs(tc.options.Dir))
				return
			}
			require.ErrorContains(t, err, tc.want, tc.reason)
		})
	}
}
