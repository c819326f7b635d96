package deploy_test

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
	"prometheusRule.enabled": {"alerts", []string{`prometheusRule.enabled=true`}, []string{"+PrometheusRule defaultplan-system/defaultplan"}, `"spec":{"groups":[{`},
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
