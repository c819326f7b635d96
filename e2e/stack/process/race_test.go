package process

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

func TestRacesAreFoundInWhateverRan(t *testing.T) {
	t.Parallel()
	l := Launcher{Dir: filepath.Join(t.TempDir(), "no[pattern")}
	require.NoError(t, Races(l.Dir), "nothing was started")
	sleeper(t, l, "quiet")
	require.NoError(t, Races(l.Dir), "nothing raced")

	p, err := l.Start(t.Context(), Command{Name: "racy", Binary: "/bin/sh", Args: []string{
		"-c", `echo before; echo "WARNING: DATA RACE"; echo "Write at 0x00c000012345 by goroutine 7:"; exec sleep 600`,
	}})
	require.NoError(t, err)
	require.NoError(t, wait.Eventually(t.Context(), func() (bool, error) {
		log, err := os.ReadFile(p.Log())
		return strings.Contains(string(log), "goroutine 7"), err
	}))
	require.NoError(t, p.End(context.Background(), syscall.SIGKILL))
	sleeper(t, l, "racy") // it has the same log
	err = Races(l.Dir)
	require.ErrorContains(t, err, "racy.log has a data race:\nWARNING: DATA RACE\nWrite at 0x00c000012345 by goroutine 7:")
	assert.NotContains(t, err.Error(), "quiet")
}
