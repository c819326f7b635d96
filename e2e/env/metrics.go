package env

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
)

// Metric adds up the samples of a metric of webhook process i, counted from 0,
// that have all the labels, each written as name="value".
func (e *Env) Metric(i int, name string, labels ...string) float64 {
	e.Helper()
	text, err := Scrape(e.Context(), e.WebhookMetrics(i))
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

// Scrape reads a page of metrics.
func Scrape(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s answers %s", url, response.Status)
	}
	return string(body), nil
}
