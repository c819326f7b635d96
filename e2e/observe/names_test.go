package observe_test

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// ours are the names of metrics that this project gives.
var ours = regexp.MustCompile(`\b(?:defaultplan|servicecatalog)_[a-z_]+[a-z]`)

// served are the metrics of an answer, by name, with their type.
func served(text string) map[string]string {
	types := map[string]string{}
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if words := strings.Fields(lines.Text()); len(words) == 4 && words[1] == "TYPE" {
			types[words[2]] = words[3]
		}
	}
	return types
}

// documented are the metrics of docs/metrics.md, by name, with their type.
func (s *stage) documented() map[string]string {
	s.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "docs", "metrics.md"))
	require.NoError(s, err)
	types := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (counter|gauge|histogram) \\|").FindAllStringSubmatch(string(content), -1) {
		assert.Empty(s, types[row[1]], "%s is documented twice", row[1])
		types[row[1]] = row[2]
	}
	return types
}

// written are the names of metrics in the source, but for tests.
func (s *stage) written() map[string]bool {
	s.Helper()
	names := map[string]bool{}
	literal := regexp.MustCompile(`"((?:defaultplan|servicecatalog)_[a-z_]+)"`)
	for _, folder := range []string{"certs", "cmd", "osb", "webhook"} {
		require.NoError(s, filepath.WalkDir(filepath.Join("..", "..", folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			content, err := os.ReadFile(path)
			for _, found := range literal.FindAllStringSubmatch(string(content), -1) {
				names[found[1]] = true
			}
			return err
		}))
	}
	return names
}

// metricsAreDocumented: what is served, what is written and what is documented are the
// same, with the same types.
func (s *stage) metricsAreDocumented() {
	s.Helper()
	documented := s.documented()
	// Gauges follow caches, so some are served only a little later.
	s.Eventually(func() (bool, error) {
		webhook, controller := s.metrics()
		live := served(webhook)
		maps.Copy(live, served(controller))
		maps.DeleteFunc(live, func(name, _ string) bool { return !ours.MatchString(name) })
		return is(maps.Equal(documented, live), "docs/metrics.md against what the processes serve (-documented +served): %s", cmp.Diff(documented, live))
	})
	assert.Equal(s, slices.Sorted(maps.Keys(documented)), slices.Sorted(maps.Keys(s.written())), "docs/metrics.md against the source")
}

// queries are those of the alerts and of the dashboard.
func (s *stage) queries() []string {
	s.Helper()
	folder := filepath.Join("..", "..", "deploy", "monitoring")
	var rules struct {
		Groups []struct{ Rules []struct{ Expr string } }
	}
	content, err := os.ReadFile(filepath.Join(folder, "rules.yaml"))
	require.NoError(s, err)
	require.NoError(s, yaml.Unmarshal(content, &rules))
	var dashboard struct {
		Panels     []struct{ Targets []struct{ Expr string } }
		Templating struct{ List []struct{ Definition string } }
	}
	content, err = os.ReadFile(filepath.Join(folder, "dashboard.json"))
	require.NoError(s, err)
	require.NoError(s, json.Unmarshal(content, &dashboard))
	var all []string
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			all = append(all, rule.Expr)
		}
	}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			all = append(all, target.Expr)
		}
	}
	for _, variable := range dashboard.Templating.List {
		if variable.Definition != "" {
			all = append(all, variable.Definition)
		}
	}
	require.NotEmpty(s, all)
	return all
}

// queriesAskForWhatIsThere: every metric that a query names is served, by our processes
// or by the API server, with every label that the query names; and every metric of ours
// but those of the retired catalog is in a query.
func (s *stage) queriesAskForWhatIsThere() {
	s.Helper()
	webhook, controller := s.metrics()
	apiserver := s.Kubectl("", "get", "--raw", "/metrics")
	text := webhook + controller + apiserver
	types := served(text)
	name := regexp.MustCompile(`\b(?:defaultplan|servicecatalog|apiserver)_[a-z_]+[a-z]\b(\{[^}]*\})?`)
	asked := map[string]bool{}
	for _, query := range s.queries() {
		found := name.FindAllString(query, -1)
		assert.NotEmpty(s, found, "%q asks for no metric that is known", query)
		for _, selector := range found {
			metric, matchers, _ := strings.Cut(selector, "{")
			family := strings.TrimSuffix(metric, "_bucket")
			if types[family] != "histogram" {
				family = metric
			}
			if !assert.NotEmpty(s, types[family], "%q asks for %s, which is not served", query, metric) {
				continue
			}
			asked[family] = true
			for _, label := range regexp.MustCompile(`([a-z_]+)(?:=~|!=|=)"`).FindAllStringSubmatch(matchers, -1) {
				assert.Regexp(s, `(?m)^`+metric+`\{[^}]*\b`+label[1]+`="`, text, "%q asks for a label that %s has not", query, metric)
			}
		}
	}
	for metric := range s.documented() {
		if strings.HasPrefix(metric, "defaultplan_") {
			assert.True(s, asked[metric], "%s is neither in an alert nor on the dashboard", metric)
		}
	}
}
