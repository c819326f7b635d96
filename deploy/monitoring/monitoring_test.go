// Package monitoring_test holds the alerts, their tests, their documents and the
// dashboard against each other. That the metrics exist is seen in e2e, on processes
// that run.
package monitoring_test

import (
	"encoding/json"
	"flag"
	"fmt"
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

// A dashboard is what Grafana reads of one, as far as a mistake would show an empty
// page.
type dashboard struct {
	UID, Title    string
	SchemaVersion int
	Templating    struct {
		List []struct{ Name, Type string }
	}
	Panels []panel
}

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Targets                  []struct {
		RefID, Expr string
		Datasource  struct{ UID string }
	}
}

// The dashboard has what Grafana needs: panels of known types that lie beside each other,
// with queries against the data source that is chosen.
func TestDashboard(t *testing.T) {
	t.Parallel()
	var d dashboard
	require.NoError(t, json.Unmarshal([]byte(read(t, "dashboard.json")), &d))
	assert.Equal(t, "defaultplan", d.UID)
	assert.NotEmpty(t, d.Title)
	assert.GreaterOrEqual(t, d.SchemaVersion, 36)
	require.Len(t, d.Templating.List, 2)
	assert.Equal(t, "datasource", d.Templating.List[0].Type)
	ids, cells := map[int]bool{}, map[[2]int]string{}
	var queries []string
	for _, p := range d.Panels {
		assert.False(t, ids[p.ID], "id %d twice", p.ID)
		ids[p.ID] = true
		assert.Contains(t, []string{"row", "timeseries", "stat", "table"}, p.Type, p.Title)
		assert.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, p.Title)
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				assert.Empty(t, cells[[2]int{x, y}], "%s lies on another", p.Title)
				cells[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		assert.NotEmpty(t, p.Description, p.Title)
		require.NotEmpty(t, p.Targets, p.Title)
		refs := map[string]bool{}
		for _, target := range p.Targets {
			assert.False(t, refs[target.RefID], p.Title)
			refs[target.RefID] = true
			assert.Equal(t, "${datasource}", target.Datasource.UID, p.Title)
			queries = append(queries, target.Expr)
		}
	}
	assertParse(t, queries)
}

// assertParse has promtool read queries: as rules', once Grafana's variables have a
// value.
func assertParse(t *testing.T, queries []string) {
	t.Helper()
	values := strings.NewReplacer("$__rate_interval", "5m", "$broker", ".*")
	var recorded []any
	for i, query := range queries {
		recorded = append(recorded, map[string]any{"record": fmt.Sprintf("panel:%d", i), "expr": values.Replace(query)})
	}
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "panels", "rules": recorded}}})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	out, err := promtool(t, "check", "rules", file)
	assert.NoError(t, err, "%s", out)
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
