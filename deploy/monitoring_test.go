package deploy_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheChartMonitorsTheSame: what the chart renders for the Prometheus operator and
// for Grafana is what deploy/monitoring has for who installs without Helm.
func TestTheChartMonitorsTheSame(t *testing.T) {
	t.Parallel()
	rendered := chart(t, "helm", "defaultplan-system", `serviceMonitor.enabled=true`, `prometheusRule.enabled=true`, `dashboard.enabled=true`)
	dashboard, err := os.ReadFile("monitoring/dashboard.json")
	require.NoError(t, err)
	board := rendered["ConfigMap defaultplan-system/defaultplan-dashboard"]
	require.NotNil(t, board)
	assert.JSONEq(t, string(dashboard), board.Object["data"].(map[string]any)["defaultplan.json"].(string))

	files, err := filepath.Glob("monitoring/*.yaml")
	require.NoError(t, err)
	compared := map[string]int{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		for name, object := range parse(t, content) {
			if kind := object.GetKind(); kind != "ServiceMonitor" && kind != "PrometheusRule" {
				continue
			}
			compared[object.GetKind()]++
			require.Contains(t, rendered, name, file)
			assert.Empty(t, cmp.Diff(object.Object["spec"], rendered[name].Object["spec"]), "%s: %s", file, name)
		}
	}
	assert.Equal(t, map[string]int{"ServiceMonitor": 3, "PrometheusRule": 1}, compared)
}
