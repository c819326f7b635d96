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

// patience is how long the API server may take to answer without a word about it.
const patience = 3 * time.Second

// A patient tells once, of all its requests, that the API server does not answer.
type patient struct {
	out  io.Writer
	once sync.Once
}

// wrap has the requests of a client told of.
func (p *patient) wrap(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &waited{next, p} })
}

// A waited is the transport of a client whose requests are told of.
type waited struct {
	next   http.RoundTripper
	teller *patient
}

// RoundTrip sends a request. A watch is one that is waited for anyway.
func (w *waited) RoundTrip(request *http.Request) (*http.Response, error) {
	if watches, _ := strconv.ParseBool(request.URL.Query().Get("watch")); !watches {
		told := time.AfterFunc(patience, func() {
			w.teller.once.Do(func() {
				_, _ = fmt.Fprintf(w.teller.out, "waiting for the API server at %s …\n", request.URL.Host)
			})
		})
		defer told.Stop()
	}
	return w.next.RoundTrip(request)
}

// WrappedRoundTripper is the transport itself, as client-go asks for it.
func (w *waited) WrappedRoundTripper() http.RoundTripper { return w.next }
