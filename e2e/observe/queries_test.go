package observe_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// The labels that a Prometheus adds to what it scrapes, with their values here.
const scrapedFrom = `cluster="here",namespace="defaultplan-system"`

// queried are the metrics that queries may name.
var queried = regexp.MustCompile(`\b(?:defaultplan|apiserver)_[a-z_]+[a-z]\b`)

// read decodes a file of deploy/monitoring.
func (s *stage) read(name string, into any) {
	s.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "deploy", "monitoring", name))
	require.NoError(s, err)
	require.NoError(s, yaml.Unmarshal(content, into))
}

// alerts are the queries of the alerts.
func (s *stage) alerts() []string {
	s.Helper()
	var rules struct {
		Groups []struct{ Rules []struct{ Expr string } }
	}
	s.read("rules.yaml", &rules)
	var all []string
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			all = append(all, rule.Expr)
		}
	}
	require.NotEmpty(s, all)
	return all
}

// panels are the queries of the dashboard, with values for Grafana's variables, and those of the
// variables themselves.
func (s *stage) panels() (queries, variables []string) {
	s.Helper()
	var dashboard struct {
		Panels     []struct{ Targets []struct{ Expr string } }
		Templating struct {
			List []struct{ Query json.RawMessage }
		}
	}
	s.read("dashboard.json", &dashboard)
	values := strings.NewReplacer("$__rate_interval", "5m", "$cluster", "here|there", "$namespace", "defaultplan-.*", "$broker", ".*")
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			queries = append(queries, values.Replace(target.Expr))
		}
	}
	for _, variable := range dashboard.Templating.List {
		var query struct{ Query string }
		if json.Unmarshal(variable.Query, &query) == nil {
			variables = append(variables, query.Query)
		}
	}
	require.NotEmpty(s, queries)
	require.NotEmpty(s, variables)
	return queries, variables
}

// queriesAskForWhatIsThere: every metric that a query names is served, by our processes
// or by the API server; every metric of ours but those of the retired catalog is in a query; every
// query of the dashboard finds something in what is served, and every alert can be judged by it.
func (s *stage) queriesAskForWhatIsThere() {
	s.Helper()
	webhook, controller := s.metrics()
	texts := map[string]string{"webhook": webhook, "controller": controller, "apiserver": s.Kubectl("", "get", "--raw", "/metrics")}
	types := served(texts["webhook"] + texts["controller"] + texts["apiserver"])
	alerts := s.alerts()
	panels, variables := s.panels()
	asked := map[string]bool{}
	for _, query := range append(append(append([]string(nil), alerts...), panels...), variables...) {
		found := queried.FindAllString(query, -1)
		assert.NotEmpty(s, found, "%q asks for no metric that is known", query)
		for _, metric := range found {
			family := strings.TrimSuffix(metric, "_bucket")
			if types[family] != "histogram" {
				family = metric
			}
			assert.NotEmpty(s, types[family], "%q asks for %s, which is not served", query, metric)
			asked[family] = true
		}
	}
	documented, _ := s.documented()
	for metric := range documented {
		if strings.HasPrefix(metric, "defaultplan_") {
			assert.True(s, asked[metric], "%s is neither in an alert nor on the dashboard", metric)
		}
	}
	s.evaluate(seriesOf(texts, types, asked), alerts, panels)
}

// seriesOf are the scraped series of the metrics that are asked for, as promtool takes them: each
// had its value for a quarter of an hour, and what counts has grown by one a minute.
func seriesOf(texts, types map[string]string, asked map[string]bool) []any {
	var all []any
	line := regexp.MustCompile(`(?m)^([a-z_]+)(?:\{(.*)\})? ([0-9.e+-]+)$`)
	for instance, text := range texts {
		for _, found := range line.FindAllStringSubmatch(text, -1) {
			family := found[1]
			if base := strings.TrimSuffix(family, "_bucket"); types[base] == "histogram" {
				family = base
			}
			value, err := strconv.ParseFloat(found[3], 64)
			if !asked[family] || err != nil {
				continue
			}
			step := 0
			if types[family] != "gauge" {
				step = 1
			}
			labels := strings.Trim(found[2]+","+scrapedFrom+fmt.Sprintf(",instance=%q", instance), ",")
			all = append(all, map[string]any{
				"series": found[1] + "{" + labels + "}", "values": fmt.Sprintf("%s+%dx15", strconv.FormatFloat(value, 'f', -1, 64), step),
			})
		}
	}
	return all
}

// evaluate has promtool evaluate queries: a panel's has to find something, and an alert's must not
// fail, whether or not the alert fires.
func (s *stage) evaluate(series []any, alerts, panels []string) {
	s.Helper()
	require.NotEmpty(s, series)
	var cases []any
	expect := func(expr string) {
		cases = append(cases, map[string]any{"expr": expr, "eval_time": "12m", "exp_samples": []any{map[string]any{"labels": "{}", "value": 1}}})
	}
	for _, query := range panels {
		expect("count(" + query + ") > bool 0")
	}
	for _, query := range alerts {
		expect("count(" + query + ") > bool 0 or vector(1)")
	}
	test := map[string]any{"interval": "1m", "input_series": series, "promql_expr_test": cases}
	text, err := yaml.Marshal(map[string]any{"evaluation_interval": "1m", "tests": []any{test}})
	require.NoError(s, err)
	file := filepath.Join(s.TempDir(), "queries_test.yaml")
	require.NoError(s, os.WriteFile(file, text, 0o600))
	promtool, err := filepath.Abs(filepath.Join("..", "..", "bin", "promtool"))
	require.NoError(s, err)
	require.FileExists(s, promtool, "run `make bin/promtool`")
	out, err := exec.CommandContext(s.Context(), promtool, "test", "rules", file).CombinedOutput()
	assert.NoError(s, err, "%s", out)
}
