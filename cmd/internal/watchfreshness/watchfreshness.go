// Package watchfreshness exports the time of the last watch event per resource,
// an upper bound on the age of a cache, and says whether all were heard of lately.
package watchfreshness

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// lastHeard has one series for each kind that the process watches. The API server
// sends a bookmark about once a minute where nothing else happens.
var lastHeard = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "defaultplan_cache_last_heard_timestamp_seconds",
	Help: "When the API server last sent anything on the watch that keeps a cache, by resource, in seconds since 1970.",
}, []string{"resource"})

func init() { metrics.Registry.MustRegister(lastHeard) } //nolint:gochecknoinits // metrics are registered once per process

// watches are those of this process.
var watches = &times{now: time.Now, metric: lastHeard}

// Current returns a check that the API server was heard of on the watch of each resource within
// the time that is allowed for it. A resource that is not watched was never heard of.
func Current(within map[string]time.Duration) func() bool {
	return func() bool { return watches.within(within) }
}

// times are when the API server was last heard of, by resource.
type times struct {
	now    func() time.Time
	metric *prometheus.GaugeVec

	mu    sync.RWMutex
	heard map[string]received
}

// A received is when something came on a watch last, and on which one.
type received struct {
	at time.Time
	on *stream
}

// hear records that something came on a watch. While it is still the initial list, the cache is
// as it was before: the list replaces it at its end.
func (t *times) hear(on *stream) {
	now := t.now()
	t.metric.WithLabelValues(on.resource).Set(float64(now.UnixMilli()) / float64(time.Second/time.Millisecond))
	if on.listing {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.heard == nil {
		t.heard = map[string]received{}
	}
	t.heard[on.resource] = received{now, on}
}

// forget records that a watch ended: until another one of its resource begins nothing is heard.
// That one may have begun before.
func (t *times) forget(ended *stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.heard[ended.resource].on == ended {
		delete(t.heard, ended.resource)
	}
}

func (t *times) within(allowed map[string]time.Duration) bool {
	now := t.now()
	t.mu.RLock()
	defer t.mu.RUnlock()
	for resource, most := range allowed {
		if last, ok := t.heard[resource]; !ok || now.Sub(last.at) > most {
			return false
		}
	}
	return true
}

// OfWatches records the time of data on watches, and leaves all other requests
// unchanged.
func OfWatches(next http.RoundTripper) http.RoundTripper {
	return &transport{next: next, times: watches}
}

type transport struct {
	next  http.RoundTripper
	times *times
}

// RoundTrip sends a request.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(r)
	query := r.URL.Query()
	if err != nil || response.StatusCode != http.StatusOK || query.Get("watch") == "" {
		return response, err
	}
	watch := &stream{
		ReadCloser: response.Body, times: t.times, resource: resourceOf(r.URL.Path),
		listing: query.Get("sendInitialEvents") == "true" && isJSON(response),
	}
	t.times.hear(watch)
	response.Body = watch
	return response, nil
}

// isJSON says whether a response is one of JSON. Those in protobuf are of kinds that admission does
// not choose by.
func isJSON(response *http.Response) bool {
	return strings.HasPrefix(response.Header.Get("Content-Type"), "application/json")
}

// WrappedRoundTripper is the transport below, for client-go, which looks for it.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// resourceOf is the last part of a path such as
// /api/v1/namespaces/NAME/secrets: the watched resource, without names.
func resourceOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// A stream is the response body of a watch.
type stream struct {
	io.ReadCloser

	times    *times
	resource string
	// listing says that the watch is still sending its initial list.
	listing bool
	// line is what was read of the present line, as far as it may be the bookmark that ends the list.
	line []byte
}

var (
	// bookmark begins the line of a bookmark. An event is a line, and JSON has no line breaks within
	// its strings, so no text in an object can begin one.
	bookmark = []byte(`{"type":"BOOKMARK"`)
	// initialListEnd is in the bookmark that ends the initial list of a watch.
	initialListEnd = []byte(metav1.InitialEventsAnnotationKey)
)

// Read records the time of data.
func (s *stream) Read(buffer []byte) (int, error) {
	n, err := s.ReadCloser.Read(buffer)
	if s.listing {
		s.findEnd(buffer[:n])
	}
	if n > 0 {
		s.times.hear(s)
	}
	if err != nil {
		s.times.forget(s)
	}
	return n, err //nolint:wrapcheck // the reader compares it with io.EOF
}

// findEnd looks for the bookmark that ends the initial list, which may be split between reads.
func (s *stream) findEnd(read []byte) {
	for len(read) > 0 {
		part, rest, ends := bytes.Cut(read, []byte{'\n'})
		if missing := len(bookmark) - len(s.line); missing > 0 {
			s.line = append(s.line, part[:min(missing, len(part))]...)
			part = part[min(missing, len(part)):]
		}
		if bytes.HasPrefix(s.line, bookmark) {
			s.line = append(s.line, part...)
			if bytes.Contains(s.line, initialListEnd) {
				s.listing, s.line = false, nil
				return
			}
		}
		if ends {
			s.line = s.line[:0]
		}
		read = rest
	}
}

// Close ends the watch.
func (s *stream) Close() error {
	s.times.forget(s)
	return s.ReadCloser.Close() //nolint:wrapcheck // it is the response's own
}
