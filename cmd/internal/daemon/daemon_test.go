package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/cmd/internal/version"
)

// An idle daemon has one flag that must not be given, and ends at once.
type idle struct{ broken bool }

func (d *idle) Bind(flags *pflag.FlagSet) { flags.BoolVar(&d.broken, "broken", false, "") }

func (d *idle) Validate() error {
	if d.broken {
		return errors.New("--broken is set")
	}
	return nil
}

func (*idle) Run(context.Context) error { return errors.New("it ran") }

// Who asks for the version gets it, whatever else the flags say: nothing starts.
func TestVersionIsPrintedAndNothingStarts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		args   []string
	}{
		"Alone":   {reason: "no other flag is needed", args: []string{"--version"}},
		"Invalid": {reason: "what would not run has a version too", args: []string{"--broken", "--version"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			require.NoError(t, start("webhook", new(idle), tc.args, &out), tc.reason)
			assert.Equal(t, "webhook "+version.Line()+"\n", out.String())
		})
	}
}

func TestBuildInfoIsAMetric(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, countBuild(registry))
	families, err := registry.Gather()
	require.NoError(t, err)
	require.Len(t, families, 1)
	assert.Equal(t, "defaultplan_build_info", families[0].GetName())
	require.Len(t, families[0].GetMetric(), 1)
	labels := map[string]string{}
	for _, label := range families[0].GetMetric()[0].GetLabel() {
		labels[label.GetName()] = label.GetValue()
	}
	assert.Equal(t, map[string]string{"version": version.String(), "go_version": runtime.Version()}, labels)
	assert.InDelta(t, 1, families[0].GetMetric()[0].GetGauge().GetValue(), 0)
	require.ErrorContains(t, countBuild(registry), "cannot register", "once a process")
}

// The API server is told the version, and a name that the binary's folder does not change.
func TestUserAgentOfTheCluster(t *testing.T) {
	t.Parallel()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, []byte(`{apiVersion: v1, kind: Config, current-context: c,
		contexts: [{name: c, context: {cluster: c}}], clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]}`), 0o600))
	config, err := ClusterConfig(kubeconfig)
	require.NoError(t, err)
	assert.Equal(t, version.UserAgent(filepath.Base(os.Args[0])), config.UserAgent)
}
