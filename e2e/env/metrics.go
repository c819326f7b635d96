package env

import (
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
)

// Metric adds up the samples of a metric of webhook process i, counted from 0,
// that have all the labels, each written as name="value".
func (o *Observations) Metric(i int, name string, labels ...string) float64 {
	o.Helper()
	text, err := o.stack.Scrape(o.Context(), o.stack.WebhookMetrics(i))
	require.NoError(o, err)
	var sum float64
	for line := range strings.Lines(text) {
		series, sample, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || (series != name && !strings.HasPrefix(series, name+"{")) || !hasAll(series, labels) {
			continue
		}
		value, err := strconv.ParseFloat(sample, 64)
		require.NoError(o, err, line)
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
