package deploy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// podMonitors are the values for them, and the changes that they make.
var (
	podMonitor  = []string{`podMonitor.enabled=true`, `podMonitor.credentials.name="scraper"`}
	podMonitors = named("+PodMonitor defaultplan-system/defaultplan-", "controller", "keeper", "webhook")
)

// monitoringCases are those of what other programs look at.
var monitoringCases = map[string]valueCase{
	"serviceMonitor.enabled": {
		"metrics of each component", []string{`serviceMonitor.enabled=true`}, named("+ServiceMonitor defaultplan-system/defaultplan-", "controller", "keeper", "webhook"), `"interval":"30s","port":"metrics","scheme":"https","tlsConfig":{"insecureSkipVerify":true}`,
	},
	"serviceMonitor.interval": {
		"rarely", []string{`serviceMonitor.enabled=true`, `serviceMonitor.interval="2m"`},
		named("+ServiceMonitor defaultplan-system/defaultplan-", "controller", "keeper", "webhook"), `"interval":"2m"`,
	},
	"serviceMonitor.labels": {
		"what a Prometheus selects by", []string{`serviceMonitor.enabled=true`, `serviceMonitor.labels={"release":"p"}`},
		named("+ServiceMonitor defaultplan-system/defaultplan-", "controller", "keeper", "webhook"), `"release":"p"`,
	},
	"podMonitor.enabled": {
		"of the pods, with a token of a Secret", podMonitor, podMonitors,
		`[{"authorization":{"credentials":{"key":"token","name":"scraper"}},"interval":"30s","port":"metrics","scheme":"https","tlsConfig":{"insecureSkipVerify":true}}]`,
	},
	"podMonitor.interval":         {"rarely", with(podMonitor, `podMonitor.interval="2m"`), podMonitors, `"interval":"2m"`},
	"podMonitor.labels":           {"what a Prometheus selects by", with(podMonitor, `podMonitor.labels={"release":"p"}`), podMonitors, `"release":"p"`},
	"podMonitor.credentials.name": {"another name", with(podMonitor, `podMonitor.credentials.name="mine"`), podMonitors, `{"key":"token","name":"mine"}`},
	"podMonitor.credentials.key":  {"another key", with(podMonitor, `podMonitor.credentials.key="mine"`), podMonitors, `{"key":"mine","name":"scraper"}`},
	"prometheusRule.enabled":      {"alerts", []string{`prometheusRule.enabled=true`}, []string{"+PrometheusRule defaultplan-system/defaultplan"}, `"spec":{"groups":[{`},
	"prometheusRule.labels": {
		"what a Prometheus selects by", []string{`prometheusRule.enabled=true`, `prometheusRule.labels={"release":"p"}`},
		[]string{"+PrometheusRule defaultplan-system/defaultplan"}, `"release":"p"`,
	},
	"dashboard.enabled": {"for Grafana", []string{`dashboard.enabled=true`}, []string{"+ConfigMap defaultplan-system/defaultplan-dashboard"}, `"defaultplan.json":"{`},
	"dashboard.labels.grafana_dashboard": {
		"what a Grafana finds by", []string{`dashboard.enabled=true`, `dashboard.labels={"grafana_dashboard":"mine"}`},
		[]string{"+ConfigMap defaultplan-system/defaultplan-dashboard"}, `"grafana_dashboard":"mine"`,
	},
}

// TestMonitorsAreAlike: but for where its token comes from, a PodMonitor scrapes what a
// ServiceMonitor does, and selects the pods of its component.
func TestMonitorsAreAlike(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ set, enabled []string }{
		"Secure": {enabled: podMonitor},
		"Plain":  {[]string{`metrics.secure=false`}, []string{`podMonitor.enabled=true`}},
	} {
		services := chart(t, "helm", "defaultplan-system", with(tc.set, `serviceMonitor.enabled=true`)...)
		pods := chart(t, "helm", "defaultplan-system", with(tc.set, tc.enabled...)...)
		for _, component := range []string{"webhook", "keeper", "controller"} {
			want := endpointOf(t, services["ServiceMonitor defaultplan-system/defaultplan-"+component], "endpoints")
			monitor := pods["PodMonitor defaultplan-system/defaultplan-"+component]
			got := endpointOf(t, monitor, "podMetricsEndpoints")
			assert.Equal(t, want["bearerTokenFile"] != nil, got["authorization"] != nil, name)
			delete(want, "bearerTokenFile")
			delete(got, "authorization")
			assert.Equal(t, want, got, name)
			selector, _, err := unstructured.NestedStringMap(monitor.Object, "spec", "selector", "matchLabels")
			require.NoError(t, err)
			workload := deployment(t, pods, component)
			assert.Equal(t, workload.Spec.Selector.MatchLabels, selector, name)
		}
	}
}

// endpointOf is the one endpoint of a monitor.
func endpointOf(t *testing.T, monitor *unstructured.Unstructured, field string) map[string]any {
	t.Helper()
	require.NotNil(t, monitor)
	endpoints, _, err := unstructured.NestedSlice(monitor.Object, "spec", field)
	require.NoError(t, err)
	require.Len(t, endpoints, 1)
	endpoint, is := endpoints[0].(map[string]any)
	require.True(t, is)
	return endpoint
}
