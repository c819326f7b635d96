// Package metricstest reads metrics in tests.
package metricstest

import (
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
)

// Value returns the value of the series of a metric that has all of these label values; 0
// if there is none. A histogram's value is the number of its samples.
func Value(t *testing.T, registry prometheus.Gatherer, name string, labels ...string) float64 {
	t.Helper()
	for _, m := range series(t, registry, name) {
		var has []string
		for _, label := range m.GetLabel() {
			has = append(has, label.GetValue())
		}
		if slices.ContainsFunc(labels, func(label string) bool { return !slices.Contains(has, label) }) {
			continue
		}
		return m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
	}
	return 0
}

// Series returns how many series a metric has.
func Series(t *testing.T, registry prometheus.Gatherer, name string) int {
	t.Helper()
	return len(series(t, registry, name))
}

func series(t *testing.T, registry prometheus.Gatherer, name string) []*dto.Metric {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		if family.GetName() == name {
			return family.GetMetric()
		}
	}
	return nil
}
