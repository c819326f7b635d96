package cli

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// slowAfter is how long the API server may take to answer before a request counts as slow.
const slowAfter = 3 * time.Second

// slowRequests says once, for all requests of a client, that the API server does not answer.
type slowRequests struct {
	out  io.Writer
	once sync.Once
}

// wrap watches the requests of a client.
func (s *slowRequests) wrap(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &watchedTransport{next, s} })
}

// A watchedTransport reports requests that are slow.
type watchedTransport struct {
	next http.RoundTripper
	slow *slowRequests
}

// RoundTrip sends a request. A watch takes long anyway.
func (t *watchedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if watches, _ := strconv.ParseBool(request.URL.Query().Get("watch")); !watches {
		report := time.AfterFunc(slowAfter, func() {
			t.slow.once.Do(func() {
				_, _ = fmt.Fprintf(t.slow.out, "waiting for the API server at %s …\n", request.URL.Host)
			})
		})
		defer report.Stop()
	}
	return t.next.RoundTrip(request)
}

// WrappedRoundTripper is the transport itself, as client-go asks for it.
func (t *watchedTransport) WrappedRoundTripper() http.RoundTripper { return t.next }
