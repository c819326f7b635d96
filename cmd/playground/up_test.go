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

	"github.com/defaultplan/defaultplan/e2e/stack/process"
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

// TestHint: what is printed can be typed in any folder, so it has absolute paths.
func TestHint(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	require.NoError(t, err)
	var out strings.Builder
	upOptions{dir: defaultDir, bin: "bin"}.hint(&out)
	for _, line := range []string{
		"export KUBECONFIG=HERE/.run/kubeconfig", "HERE/bin/svcat get brokers", "HERE/bin/kubectl apply -f HERE/.run/cache.yaml",
		"HERE/bin/playground books --dir=HERE/.run",
	} {
		assert.Contains(t, out.String(), "\n  "+strings.ReplaceAll(line, "HERE", here)+"\n")
	}
	assert.Contains(t, out.String(), "End it: "+here+"/bin/playground down --dir="+here+"/.run\n")
	assert.Equal(t, `'/it'\''s a/b'`, typed("/it's a/b"), "a shell must not cut it")
}

// binaries is the folder of DEFAULTPLAN_BIN, or that of make build.
func binaries() string {
	if bin := os.Getenv("DEFAULTPLAN_BIN"); bin != "" {
		return bin
	}
	return filepath.Join("..", "..", "bin")
}

// TestUpAndDown does what a person does with make up and make down.
func TestUpAndDown(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), filepath.Join(t.TempDir(), "run")
	t.Cleanup(func() {
		_, err := process.StopRecorded(context.WithoutCancel(ctx), dir)
		assert.NoError(t, err)
	})
	up := []string{"up", "--dir", dir, "--bin", binaries()}
	said, err := command(ctx, up...)
	require.NoError(t, err)
	assert.Contains(t, said, "Ready after")
	assert.Contains(t, said, "export KUBECONFIG="+dir+"/kubeconfig")
	before, err := os.ReadFile(filepath.Join(dir, "processes", "controlplane"))
	require.NoError(t, err)

	said, err = command(ctx, up...)
	require.NoError(t, err)
	assert.Contains(t, said, "It is running already: webhook-0, keeper, demo-broker-inhouse, demo-broker-azure, defaultplan-controller, controlplane.")
	after, err := os.ReadFile(filepath.Join(dir, "processes", "controlplane"))
	require.NoError(t, err)
	assert.Equal(t, before, after, "the second up starts nothing")

	runTutorials(t, dir)
	play(t, dir)

	said, err = command(ctx, "down", "--dir", dir)
	require.NoError(t, err)
	assert.Equal(t, "Ended: webhook-0, keeper, demo-broker-inhouse, demo-broker-azure, defaultplan-controller, controlplane.\n", said)
	said, err = command(ctx, "down", "--dir", dir)
	require.NoError(t, err)
	assert.Equal(t, "Nothing is running.\n", said)
}

// play tries what up says to try, and that the three kinds of types are there.
func play(t *testing.T, dir string) {
	t.Helper()
	run := func(tool string, args ...string) (string, error) {
		line := exec.CommandContext(t.Context(), filepath.Join(binaries(), tool), append([]string{"--kubeconfig", dir + "/kubeconfig"}, args...)...)
		line.Env = []string{"HOME=" + dir}
		output, err := line.CombinedOutput()
		return string(output), err
	}
	kubectl := func(args ...string) (string, error) { return run("kubectl", args...) }
	must := func(args ...string) string {
		said, err := kubectl(args...)
		require.NoError(t, err, said)
		return said
	}
	svcat := func(args ...string) string {
		said, err := run("svcat", args...)
		require.NoError(t, err, said)
		return said
	}
	assert.Contains(t, svcat("get", "brokers"), "inhouse")
	assert.Contains(t, svcat("get", "plans"), "premium-p1", "the catalogs are listed before up returns")
	assert.Contains(t, must("apply", "-f", dir+"/cache.yaml"), "redis resolved to plan azure-redis/standard-c1 (suggested)")
	must("wait", "servicebinding/cache", "--for=condition=Ready", "--timeout=30s")
	assert.Equal(t, "servicebinding.io/redis", must("get", "secret", "cache", "-o", "jsonpath={.type}"))
	assert.Contains(t, svcat("describe", "binding", "cache"), "Secret Data")
	refused, err := kubectl("apply", "-f", dir+"/mydb.yaml")
	require.Error(t, err, refused)
	assert.Contains(t, refused, "2 plans are suggested")
	assert.Contains(t, svcat("explain", "mysql"), "inhouse-mysql/small")
	assert.Contains(t, refused, "svcat set plan azure-mysql/premium-p1 --default", "as up says")
	svcat("set", "plan", "azure-mysql/premium-p1", "--default")
	must("apply", "-f", dir+"/mydb.yaml")
	must("delete", "serviceinstance", "mydb", "--timeout=30s")

	said, err := command(t.Context(), "books", "--dir", dir)
	require.NoError(t, err)
	assert.Contains(t, said, "binding  of default/cache, plan azure-redis/standard-c1, ready, for admin")
	assert.NotContains(t, said, "not as the specification says")
	must("delete", "servicebinding", "cache", "--timeout=30s")
	must("delete", "serviceinstance", "cache", "--timeout=30s")
	said, err = command(t.Context(), "books", "--dir", dir)
	require.NoError(t, err)
	assert.Equal(t, "azure: nothing\ninhouse: nothing\n", said)
	audit(t, dir)
}

// audit looks for the brokers' passwords where they must not be.
func audit(t *testing.T, dir string) {
	t.Helper()
	for _, name := range brokerNames {
		e, err := readEntry(dir, name)
		require.NoError(t, err)
		logs, err := filepath.Glob(filepath.Join(dir, "logs", "*.log"))
		require.NoError(t, err)
		require.NotEmpty(t, logs)
		for _, log := range logs {
			content, err := os.ReadFile(log)
			require.NoError(t, err)
			assert.NotContains(t, string(content), e.Password, "%s has the password of %s", log, name)
		}
	}
}

func TestUpWithoutBinariesSaysHowToGetThem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := command(t.Context(), "up", "--dir", dir, "--bin", t.TempDir())
	require.ErrorContains(t, err, "make build")
	running, err := process.Running(t.Context(), dir)
	require.NoError(t, err)
	assert.Empty(t, running, "nothing is left behind")
}

func TestBadInputIsRefused(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"Story":    {reason: "no such story", args: []string{"demo", "--story", "x"}, want: "cannot find story"},
		"Argument": {reason: "there are no arguments", args: []string{"up", "now"}, want: "unknown command"},
		"Broker":   {reason: "a name is no path", args: []string{"fault", "../azure"}, want: "there are azure, inhouse"},
		"NoBroker": {reason: "nothing was started", args: []string{"books", "--dir", "none"}, want: "see `playground up`"},
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
