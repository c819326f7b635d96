package env

import (
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
)

// Metric adds up the samples of a metric of webhook process i, counted from 0,
// that have all the labels, each written as name="value".
func (e *Env) Metric(i int, name string, labels ...string) float64 {
	e.Helper()
	text, err := e.Scrape(e.Context(), e.WebhookMetrics(i))
	require.NoError(e, err)
	var sum float64
	for line := range strings.Lines(text) {
		series, sample, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || (series != name && !strings.HasPrefix(series, name+"{")) || !hasAll(series, labels) {
			continue
		}
		value, err := strconv.ParseFloat(sample, 64)
		require.NoError(e, err, line)
		sum += value
	}
	return sum
}

func hasAll(series string, labels []string) bool {
	for _, label := range labels {
		if !strings.Contains(series, label) {
			return false
		}
	}
	return true
}
