package main

import (
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// history makes a folder with one commit, of a known time, and a tag.
func history(t *testing.T) (folder, revision string) {
	t.Helper()
	folder = t.TempDir()
	run := func(args ...string) {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", folder}, args...)...)
		cmd.Env = append(cmd.Environ(), "GIT_COMMITTER_DATE=1700000000 +0200", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		output, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", output)
	}
	run("init", "-q")
	run("-c", "user.name=a", "-c", "user.email=a@example.test", "commit", "-q", "--allow-empty", "-m", "first")
	run("tag", "v0.2.0")
	return folder, git(t.Context(), folder, "rev-parse", "HEAD")
}

func TestReadSource(t *testing.T) {
	t.Parallel()
	folder, revision := history(t)
	of := func(version string, seconds int64) source {
		return source{version: version, revision: revision, created: time.Unix(seconds, 0).UTC()}
	}
	for name, tc := range map[string]struct {
		reason         string
		folder         string
		version, epoch string
		want           source
		fails          string
	}{
		"History":   {reason: "the tag, the commit and its time", folder: folder, want: of("v0.2.0", 1_700_000_000)},
		"Given":     {reason: "what is said stands", folder: folder, version: "v9", epoch: "5", want: of("v9", 5)},
		"NoHistory": {reason: "still the same every time", folder: t.TempDir(), want: source{version: unknown, created: time.Unix(0, 0).UTC()}},
		"Version":   {reason: "it goes into a command", folder: folder, version: "v1 -X main.x=y", fails: "is none"},
		"Epoch":     {reason: "a time that is none", folder: folder, epoch: "today", fails: `cannot read the time "today"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := readSource(t.Context(), tc.folder, tc.version, tc.epoch)
			if tc.fails != "" {
				require.ErrorContains(t, err, tc.fails, tc.reason)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.want, got, tc.reason)
		})
	}
}

func TestTag(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "v1.0.0_dirty", (&source{version: "v1.0.0+dirty"}).tag(), "a registry knows no plus")
}
