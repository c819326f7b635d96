package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// command runs the playground's own command line and returns what it printed.
func command(ctx context.Context, args ...string) (string, error) {
	var out strings.Builder
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&out)
	err := root.ExecuteContext(ctx)
	return out.String(), err
}

func TestDownWhereNothingRuns(t *testing.T) {
	t.Parallel()
	said, err := command(t.Context(), "down", "--dir", t.TempDir()+"/none")
	require.NoError(t, err)
	assert.Equal(t, "Nothing is running.\n", said)
}

// TestUpAndDown does what a person does with make up and make down.
func TestUpAndDown(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), filepath.Join(t.TempDir(), "run")
	t.Cleanup(func() {
		_, err := stack.StopRecorded(context.WithoutCancel(ctx), dir)
		assert.NoError(t, err)
	})
	up := []string{"up", "--dir", dir, "--bin", "../../bin"}
	said, err := command(ctx, up...)
	require.NoError(t, err)
	assert.Contains(t, said, "Ready after")
	assert.Contains(t, said, "export KUBECONFIG="+dir+"/kubeconfig")
	before, err := os.ReadFile(filepath.Join(dir, "processes", "controlplane"))
	require.NoError(t, err)

	said, err = command(ctx, up...)
	require.NoError(t, err)
	assert.Contains(t, said, "It is running already: webhook-0, releaser, controlplane.")
	after, err := os.ReadFile(filepath.Join(dir, "processes", "controlplane"))
	require.NoError(t, err)
	assert.Equal(t, before, after, "the second up starts nothing")

	kubectl := func(args ...string) string {
		line := exec.CommandContext(ctx, "../../bin/kubectl", append([]string{"--kubeconfig", dir + "/kubeconfig"}, args...)...)
		line.Env = []string{"HOME=" + dir}
		output, err := line.CombinedOutput()
		require.NoError(t, err, string(output))
		return string(output)
	}
	assert.Contains(t, kubectl("apply", "-f", dir+"/mydb.yaml"), "mysql resolved to plan azure-mysql/premium-p1 (default)")
	assert.Contains(t, kubectl("delete", "serviceinstance", "mydb", "--timeout=20s"), "deleted")

	said, err = command(ctx, "down", "--dir", dir)
	require.NoError(t, err)
	assert.Equal(t, "Ended: webhook-0, releaser, controlplane.\n", said)
	said, err = command(ctx, "down", "--dir", dir)
	require.NoError(t, err)
	assert.Equal(t, "Nothing is running.\n", said)
}

func TestUpWithoutBinariesSaysHowToGetThem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := command(t.Context(), "up", "--dir", dir, "--bin", t.TempDir())
	require.ErrorContains(t, err, "make build")
	running, err := stack.Running(t.Context(), dir)
	require.NoError(t, err)
	assert.Empty(t, running, "nothing is left behind")
}

func TestDemoRefusesBadInput(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"Story":    {reason: "no such story", args: []string{"demo", "--story", "x"}, want: "cannot find story"},
		"Argument": {reason: "there are no arguments", args: []string{"up", "now"}, want: "unknown command"},
		"Flag":     {reason: "there is no such flag", args: []string{"down", "--force"}, want: "unknown flag"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := command(t.Context(), tc.args...)
			require.ErrorContains(t, err, tc.want, tc.reason)
		})
	}
}
