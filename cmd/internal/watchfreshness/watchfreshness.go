// Package watchfreshness tells when the API server was last heard of, per kind of object that
// is watched: how old a cache may be at most.
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

// OfWatches notes what is heard on watches, and leaves all other requests as they are.
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

// resourceOf is the last part of a path such as /api/v1/namespaces/NAME/secrets: what is
// watched of, with no name of a user in it.
func resourceOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// A stream is what is sent on a watch.
type stream struct {
	io.ReadCloser

	transport *transport
	resource  string
}

// Read notes that there was something.
func (s *stream) Read(buffer []byte) (int, error) {
	n, err := s.ReadCloser.Read(buffer)
	if n > 0 {
		s.transport.heard.WithLabelValues(s.resource).Set(float64(s.transport.now().UnixMilli()) / float64(time.Second/time.Millisecond))
	}
	return n, err //nolint:wrapcheck // the reader compares it with io.EOF
}
