// Package watchfreshness exports the time of the last watch event per resource,
// an upper bound on the age of a cache.
package watchfreshness

import (
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// lastHeard has one series for each kind that the process watches. The API server
// sends a bookmark about once a minute where nothing else happens.
var lastHeard = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "defaultplan_cache_last_heard_timestamp_seconds",
	Help: "When the API server last sent anything on the watch that keeps a cache, by resource, in seconds since 1970.",
}, []string{"resource"})

func init() { metrics.Registry.MustRegister(lastHeard) } //nolint:gochecknoinits // metrics are registered once per process

// OfWatches records the time of data on watches, and leaves all other requests
// unchanged.
func OfWatches(next http.RoundTripper) http.RoundTripper {
	return &transport{next: next, now: time.Now, heard: lastHeard}
}

type transport struct {
	next  http.RoundTripper
	now   func() time.Time
	heard *prometheus.GaugeVec
}

// RoundTrip sends a request.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(r)
	if err != nil || response.StatusCode != http.StatusOK || r.URL.Query().Get("watch") == "" {
		return response, err
	}
	response.Body = &stream{ReadCloser: response.Body, transport: t, resource: resourceOf(r.URL.Path)}
	return response, nil
}

// WrappedRoundTripper is the transport below, for client-go, which looks for it.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// resourceOf is the last part of a path such as
// /api/v1/namespaces/NAME/secrets: the watched resource, without names.
func resourceOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// A stream is the response body of a watch.
type stream struct {
	io.ReadCloser

	transport *transport
	resource  string
}

// Read records the time of data.
func (s *stream) Read(buffer []byte) (int, error) {
	n, err := s.ReadCloser.Read(buffer)
	if n > 0 {
		s.transport.heard.WithLabelValues(s.resource).Set(float64(s.transport.now().UnixMilli()) / float64(time.Second/time.Millisecond))
	}
	return n, err //nolint:wrapcheck // the reader compares it with io.EOF
}
