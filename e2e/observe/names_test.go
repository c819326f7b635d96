package observe_test

import (
	"bufio"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// servedLabels are the labels of the metrics of an answer that this project gives, by name, sorted.
func servedLabels(text string) map[string]string {
	sets, label := map[string]map[string]bool{}, regexp.MustCompile(`([a-z_]+)="`)
	for _, found := range regexp.MustCompile(`(?m)^((?:defaultplan|servicecatalog)_[a-z_]+)(?:\{(.*)\})? `).FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`_(bucket|sum)$`).ReplaceAllString(found[1], "")
		if sets[name] == nil {
			sets[name] = map[string]bool{}
		}
		for _, one := range label.FindAllStringSubmatch(found[2], -1) {
			sets[name][one[1]] = true
		}
		delete(sets[name], "le")
	}
	labels := map[string]string{}
	for name, set := range sets {
		labels[name] = strings.Join(slices.Sorted(maps.Keys(set)), " ")
	}
	return labels
}

// documented are the metrics of docs/metrics.md, by name, with their type, and with their labels.
func (s *stage) documented() (types, labels map[string]string) {
	s.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "docs", "metrics.md"))
	require.NoError(s, err)
	types, labels = map[string]string{}, map[string]string{}
	values, label := regexp.MustCompile(`\([^)]*\)`), regexp.MustCompile("`([a-z_]+)`")
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (counter|gauge|histogram) \\| (.*?) ?\\| ").FindAllStringSubmatch(string(content), -1) {
		assert.Empty(s, types[row[1]], "%s is documented twice", row[1])
		types[row[1]] = row[2]
		var names []string
		for _, found := range label.FindAllStringSubmatch(values.ReplaceAllString(row[3], ""), -1) {
			names = append(names, found[1])
		}
		slices.Sort(names)
		labels[row[1]] = strings.Join(names, " ")
	}
	return types, labels
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
// same, with the same types and labels, and follows the conventions of Prometheus.
func (s *stage) metricsAreDocumented() {
	s.Helper()
	documented, labels := s.documented()
	// Gauges follow caches, so some are served only a little later.
	s.Eventually(func() (bool, error) {
		webhook, controller := s.metrics()
		live := served(webhook)
		maps.Copy(live, served(controller))
		maps.DeleteFunc(live, func(name, _ string) bool { return !ours.MatchString(name) })
		return is(maps.Equal(documented, live), "docs/metrics.md against what the processes serve (-documented +served): %s", cmp.Diff(documented, live))
	})
	assert.Equal(s, slices.Sorted(maps.Keys(documented)), slices.Sorted(maps.Keys(s.written())), "docs/metrics.md against the source")
	webhook, controller := s.metrics()
	live := servedLabels(webhook)
	maps.Copy(live, servedLabels(controller))
	for name, served := range live {
		// A histogram's own count ends as the retired catalog's metrics do.
		if _, is := documented[strings.TrimSuffix(name, "_count")]; !is || documented[name] != "" {
			assert.Equal(s, labels[name], served, "docs/metrics.md against the labels of %s", name)
		}
	}
	for _, text := range []string{webhook, controller} {
		problems, err := promlint.New(strings.NewReader(text)).Lint()
		require.NoError(s, err)
		for _, problem := range problems {
			// The names of the retired catalog are what existing dashboards ask for.
			assert.False(s, strings.HasPrefix(problem.Metric, "defaultplan_"), "%s: %s", problem.Metric, problem.Text)
		}
	}
}
