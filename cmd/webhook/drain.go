package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"
	crwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"
)

// A drain delays the shutdown after a signal, so that no request is lost. API servers
// keep connections and send the next review on one at any moment: a server that closes it
// at that moment loses the review, because no client may repeat a POST that may have been
// read. So during the drain the probe says "not ready", every review is answered, and
// every response asks the API server to close the connection. A connection that is closed
// at the end has been idle for the whole drain.
type drain struct {
	// time is its duration; 0: there is none. It is longer than the time until
	// an endpoint is removed everywhere, less the wait of preStop.
	time time.Duration
	// draining is set when the drain starts, before anything ends.
	draining atomic.Bool
}

// Bind adds its flag.
func (d *drain) Bind(flags *pflag.FlagSet) {
	flags.DurationVar(&d.time, "drain-time", d.time,
		"how long, once told to end, the hooks are served on while the probe says not ready and connections are let go; 0 means not at all")
}

// Validate says what is wrong with the flag.
func (d *drain) Validate() error {
	if d.time < 0 {
		return fmt.Errorf("--drain-time is %s; allowed is 0s or more", d.time)
	}
	return nil
}

// after is the context of all that serves. It ends after the drain, which
// starts when ctx ends.
func (d *drain) after(ctx context.Context) context.Context {
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		d.draining.Store(true)
		if d.time <= 0 {
			end()
			return
		}
		time.AfterFunc(d.time, end)
	})
	return serving
}

// ready is a readiness check.
func (d *drain) ready(*http.Request) error {
	if d.draining.Load() {
		return errors.New("it is about to end")
	}
	return nil
}

// answerTime bounds one review; it is more than API servers wait for the hooks.
const answerTime = 10 * time.Second

// letGo makes the responses of a handler close their connection, once the drain
// has started. From then on a received review is completed, even if the
// server's context, which is that of all its requests, ends first. Before, a
// request ends with its caller.
func (d *drain) letGo(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), answerTime)
		defer cancel()
		stop := context.AfterFunc(r.Context(), func() {
			if !d.draining.Load() {
				cancel()
			}
		})
		defer stop()
		handler.ServeHTTP(&drained{ResponseWriter: w, drain: d}, r.WithContext(ctx))
	})
}

// A drained is a response that decides at the last moment whether to close its
// connection: the drain may have started during the review.
type drained struct {
	http.ResponseWriter

	drain *drain
	told  bool
}

// WriteHeader adds Connection: close.
func (w *drained) WriteHeader(code int) {
	w.tell()
	w.ResponseWriter.WriteHeader(code)
}

// Write is the body; without a header before it, it brings one.
func (w *drained) Write(body []byte) (int, error) {
	w.tell()
	return w.ResponseWriter.Write(body)
}

// Unwrap is for http.ResponseController.
func (w *drained) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *drained) tell() {
	if w.told {
		return
	}
	w.told = true
	if w.drain.draining.Load() {
		w.Header().Set("Connection", "close")
	}
}

// A drainedServer is a webhook server that starts when there is a certificate
// to serve, and whose handlers close connections during a drain.
type drainedServer struct {
	crwebhook.Server

	drain *drain
	// certificate is closed when there is one.
	certificate <-chan struct{}
}

// Start waits for the certificate, for as long as ctx lasts, and serves.
func (s *drainedServer) Start(ctx context.Context) error {
	select {
	case <-s.certificate:
		return s.Server.Start(ctx)
	case <-ctx.Done():
		return nil
	}
}

// Register serves a handler at a path.
func (s *drainedServer) Register(path string, handler http.Handler) {
	s.Server.Register(path, s.drain.letGo(handler))
}
