// Package monitoring_test holds the alerts, their tests, their documents and the
// dashboard against each other. That the metrics exist is seen in e2e, on processes
// that run.
package monitoring_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "rewrite prometheusrule.yaml")

// alertName is how each alert is named.
var alertName = regexp.MustCompile(`Defaultplan\w+`)

type rules struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Alert, Expr         string
			Labels, Annotations map[string]string
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}

func parseRules(t *testing.T) rules {
	t.Helper()
	var parsed rules
	require.NoError(t, yaml.Unmarshal([]byte(read(t, "rules.yaml")), &parsed))
	require.NotEmpty(t, parsed.Groups)
	return parsed
}

// Prometheus takes the rules, and each alert fires and does not fire when it should.
func TestRulesByPromtool(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"check", "rules", "rules.yaml"}, {"test", "rules", "rules_test.yaml"}} {
		out, err := promtool(t, args...)
		require.NoError(t, err, "%s", out)
	}
}

// promtool runs the pinned promtool and returns all that it prints.
func promtool(t *testing.T, args ...string) ([]byte, error) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "bin", "promtool"))
	require.NoError(t, err)
	require.FileExists(t, path, "run `make bin/promtool`")
	return exec.CommandContext(t.Context(), path, args...).CombinedOutput()
}

// rules_test.yaml has both cases of each alert.
func TestEveryAlertIsTested(t *testing.T) {
	t.Parallel()
	var tests struct {
		Tests []struct {
			Cases []struct {
				Expr    string
				Samples []any `json:"exp_samples"`
			} `json:"promql_expr_test"`
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(read(t, "rules_test.yaml")), &tests))
	fires, rests := map[string]bool{}, map[string]bool{}
	firing := regexp.MustCompile(`^count\(ALERTS\{alertname="(\w+)",alertstate="firing",severity="(\w+)"\}\)$`)
	for _, test := range tests.Tests {
		for _, c := range test.Cases {
			if strings.HasPrefix(c.Expr, "count by (alertname") {
				continue // of several alerts
			}
			found := firing.FindStringSubmatch(c.Expr)
			require.NotNil(t, found, c.Expr)
			alert := found[1] + " " + found[2]
			if len(c.Samples) > 0 {
				fires[alert] = true
			} else {
				rests[alert] = true
			}
		}
	}
	for _, group := range parseRules(t).Groups {
		for _, rule := range group.Rules {
			alert := rule.Alert + " " + rule.Labels["severity"]
			assert.True(t, fires[alert], "%s has no test in which it fires", alert)
			assert.True(t, rests[alert], "%s has no test in which it does not fire", alert)
		}
	}
}

// Each alert says what is wrong and where to read on, and there it is read of.
func TestEveryAlertIsDocumented(t *testing.T) {
	t.Parallel()
	document := read(t, "../../docs/metrics.md")
	sections := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?m)^### (Defaultplan\w+)$`).FindAllStringSubmatch(document, -1) {
		sections[found[1]] = true
	}
	for _, group := range parseRules(t).Groups {
		for _, rule := range group.Rules {
			assert.NotEmpty(t, rule.Annotations["summary"], rule.Alert)
			assert.NotEmpty(t, rule.Annotations["description"], rule.Alert)
			assert.Contains(t, []string{"warning", "critical"}, rule.Labels["severity"], rule.Alert)
			page, section, _ := strings.Cut(rule.Annotations["runbook_url"], "#")
			assert.True(t, strings.HasSuffix(page, "/docs/metrics.md"), rule.Alert)
			assert.Equal(t, strings.ToLower(rule.Alert), section)
			assert.True(t, sections[rule.Alert], "docs/metrics.md has no section %q", rule.Alert)
			delete(sections, rule.Alert)
		}
	}
	assert.Empty(t, sections, "sections without an alert")
}

// The operator's form has the same rules.
func TestPrometheusRule(t *testing.T) {
	t.Parallel()
	const path = "prometheusrule.yaml"
	head, _, found := strings.Cut(read(t, path), "spec:\n")
	require.True(t, found)
	want := strings.Builder{}
	want.WriteString(head + "spec:\n")
	for line := range strings.Lines(read(t, "rules.yaml")) {
		if !strings.HasPrefix(line, "#") {
			want.WriteString("  " + line)
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want.String()), 0o600))
	}
	assert.Equal(t, want.String(), read(t, path), "run: go test ./deploy/monitoring -update")
}

// Each alert is of one cluster, or of something within it.
func TestAlertsAreByCluster(t *testing.T) {
	t.Parallel()
	aggregation := regexp.MustCompile(`\b(?:sum|min|max|count|avg|topk|quantile)\b( by \(cluster\b)?`)
	for _, group := range parseRules(t).Groups {
		for _, rule := range group.Rules {
			found := aggregation.FindAllStringSubmatch(rule.Expr, -1)
			assert.NotEmpty(t, found, "%s depends on how it is scraped", rule.Alert)
			for _, one := range found {
				assert.NotEmpty(t, one[1], "%s: %s aggregates over clusters", rule.Alert, one[0])
			}
		}
	}
}

// Both components are scraped by their Services' port.
func TestServiceMonitors(t *testing.T) {
	t.Parallel()
	type monitor struct {
		APIVersion, Kind string
		Metadata         struct {
			Name, Namespace string
			Labels          map[string]string
		}
		Spec struct {
			Selector  struct{ MatchLabels map[string]string }
			Endpoints []struct {
				Port, Interval, Scheme, BearerTokenFile string
				TLSConfig                               struct{ InsecureSkipVerify bool }
			}
		}
	}
	var names []string
	for text := range strings.SplitSeq(read(t, "servicemonitors.yaml"), "\n---\n") {
		var m monitor
		require.NoError(t, yaml.Unmarshal([]byte(text), &m))
		component := strings.TrimPrefix(m.Metadata.Name, "defaultplan-")
		names = append(names, component)
		assert.Equal(t, map[string]string{"app.kubernetes.io/name": "defaultplan", "app.kubernetes.io/component": component}, m.Spec.Selector.MatchLabels)
		require.Len(t, m.Spec.Endpoints, 1)
		endpoint := m.Spec.Endpoints[0]
		assert.Equal(t, "metrics", endpoint.Port)
		assert.Equal(t, "https", endpoint.Scheme)
		assert.Equal(t, "/var/run/secrets/kubernetes.io/serviceaccount/token", endpoint.BearerTokenFile, "who scrapes says who it is")
		assert.True(t, endpoint.TLSConfig.InsecureSkipVerify, "each process makes its certificate itself")
	}
	assert.Equal(t, []string{"webhook", "keeper", "controller"}, names)
}
