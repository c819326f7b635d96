package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	crwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"
)

const (
	// idleTime is how long a connection is kept before its first request, the header of that
	// included, and between requests, and then how long the next header may take. Clients in Go keep it for 90 s: API servers open some
	// that they need only later, and a review that is sent as its connection is closed is lost.
	idleTime = 2 * time.Minute
	// readTime bounds the body of a request.
	readTime = 10 * time.Second
	// writeTime bounds the TLS handshake, and a request as a whole: API servers wait for
	// hooks up to 10 s.
	writeTime = 30 * time.Second
	// endTime bounds the end, when requests are waited for.
	endTime = time.Minute
	// maxHeader bounds the header of a request, in bytes.
	maxHeader = 64 << 10
	// smallReview is what a review or its answer usually has at most, in bytes.
	smallReview = 64 << 10
)

// Options say where the hooks are served, and how.
type Options struct {
	// Address is host:port; an empty host means all of the machine's addresses.
	Address string
	// CertDir has the serving certificate tls.crt and its key tls.key. They are read again
	// when they change.
	CertDir string
	// TLS are changes of the TLS configuration.
	TLS []func(*tls.Config)
	// Bounds are what is read and judged at once.
	Bounds Bounds
	// Registerer takes the metric of what was turned away.
	Registerer prometheus.Registerer
	Log        logr.Logger
}

// Bounds are what one process reads and judges at once.
type Bounds struct {
	Connections int
	Reviews     int
	// Bytes is the sum of the bodies of reviews, and of answers that are being sent, in bytes. Each
	// element of a list or map counts 64 more. A review costs about three times of that.
	Bytes int
}

// DefaultBounds fit into the memory limit of the chart: some API servers send a few hundred
// reviews at once, of some kilobytes each.
func DefaultBounds() Bounds { return Bounds{Connections: 1024, Reviews: 512, Bytes: 32 << 20} }

// A Server is a webhook server of controller-runtime, which keeps the handlers and their
// metrics, and serves them within bounds.
type Server struct {
	crwebhook.Server

	options     Options
	connections *connections
	reviews     *reviews
	listening   atomic.Bool
}

// New returns a server that does not listen yet. The error is that of the metric.
func New(options Options) (*Server, error) {
	turnedAway := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "defaultplan_webhook_turned_away_total",
		Help: "What the hooks' port was asked for beyond its bounds: connections that were closed for newer ones, reviews that were answered with 429.",
	}, []string{"what"})
	if err := options.Registerer.Register(turnedAway); err != nil {
		return nil, fmt.Errorf("cannot register a metric: %w", err)
	}
	reviews := newReviews(options.Bounds.Reviews, options.Bounds.Bytes, turnedAway.WithLabelValues("review"))
	reviews.free = smallReview
	return &Server{
		Server:      crwebhook.NewServer(crwebhook.Options{WebhookMux: http.NewServeMux()}),
		options:     options,
		connections: newConnections(options.Bounds.Connections, turnedAway.WithLabelValues("connection")),
		reviews:     reviews,
	}, nil
}

// Start serves until ctx ends, and then until every request is answered.
func (s *Server) Start(ctx context.Context) error {
	config, err := s.tls(ctx)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.options.Address)
	if err != nil {
		return fmt.Errorf("cannot serve the hooks: %w", err)
	}
	serving := s.http(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-ctx.Done()
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
		defer cancel()
		if err := serving.Shutdown(bounded); err != nil {
			s.options.Log.Error(err, "cannot end all requests in time")
		}
	}()
	s.options.Log.Info("hooks are served", "address", listener.Addr().String())
	s.listening.Store(true)
	if err := serving.Serve(tls.NewListener(listener, config)); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("cannot serve the hooks: %w", err)
	}
	<-ended
	return nil
}

// StartedChecker says whether the port answers.
func (s *Server) StartedChecker() healthz.Checker {
	return func(*http.Request) error {
		if !s.listening.Load() {
			return errors.New("the hooks are not served yet")
		}
		return nil
	}
}

// http is the server of all connections.
func (s *Server) http(ctx context.Context) *http.Server {
	return &http.Server{
		Handler:           boundBodyTime(s.reviews.bound(s.WebhookMux())),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnState:         s.connections.follow,
		ReadHeaderTimeout: idleTime,
		WriteTimeout:      writeTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		// Handshakes that fail are told here, one by one.
		ErrorLog: slog.NewLogLogger(logr.ToSlogHandler(s.options.Log), slog.LevelInfo),
	}
}

// boundBodyTime bounds the time of bodies. A server's ReadTimeout would begin when a connection is
// opened, which may be long before its first request.
func boundBodyTime(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(readTime)); err != nil {
			http.Error(w, "the time of the body cannot be bounded", http.StatusInternalServerError)
			return
		}
		handler.ServeHTTP(w, r)
	})
}

func (s *Server) tls(ctx context.Context) (*tls.Config, error) {
	watcher, err := certwatcher.New(filepath.Join(s.options.CertDir, "tls.crt"), filepath.Join(s.options.CertDir, "tls.key"))
	if err != nil {
		return nil, fmt.Errorf("cannot read the serving certificate: %w", err)
	}
	go func() {
		if err := watcher.Start(ctx); err != nil {
			s.options.Log.Error(err, "cannot follow the serving certificate")
		}
	}()
	// API servers speak HTTP/1.1 to webhooks; HTTP/2 would only be more to attack.
	config := &tls.Config{GetCertificate: watcher.GetCertificate, NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12}
	for _, change := range s.options.TLS {
		change(config)
	}
	return config, nil
}
