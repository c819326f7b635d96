package osbtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Start returns a broker that listens on loopback until the test ends, below a prefix that
// no other broker has: its port may have been that of another test's broker, which a
// platform calls still.
func Start(tb testing.TB, options Options) *Broker {
	tb.Helper()
	options.Prefix = fmt.Sprintf("/%08d%s", rand.IntN(1e8), options.Prefix) //nolint:gosec // any number will do
	b := New(options)
	require.NoError(tb, b.Listen(tb.Context(), "127.0.0.1:0"))
	tb.Cleanup(b.Close)
	return b
}

// Serve runs a broker at an address until the context ends.
func Serve(ctx context.Context, options Options, addr string) error {
	b := New(options)
	if err := b.Listen(ctx, addr); err != nil {
		return err
	}
	<-ctx.Done()
	b.Close()
	return nil
}

// Listen serves at an address, such as "127.0.0.1:0", and sets URL. After Close it may
// listen again, at the same address and with the same books: a broker that was away.
func (b *Broker) Listen(ctx context.Context, addr string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("cannot listen at %q: %w", addr, err)
	}
	scheme := "http://"
	server := &http.Server{
		Handler: b, TLSConfig: b.options.TLS, ReadHeaderTimeout: time.Minute,
		ConnContext: b.attach, ConnState: b.detach,
		ErrorLog: log.New(io.Discard, "", 0), // A platform that hangs up is no news here.
	}
	b.mu.Lock()
	if b.options.TLS != nil {
		scheme = "https://"
	}
	b.URL = scheme + listener.Addr().String() + b.options.Prefix
	b.server = server
	if b.closed {
		b.closing, b.closed = make(chan struct{}), false
	}
	b.mu.Unlock()
	go serve(server, listener)
	return nil
}

func serve(server *http.Server, listener net.Listener) {
	run := server.Serve
	if server.TLSConfig != nil {
		run = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	if err := run(listener); !errors.Is(err, http.ErrServerClosed) {
		_ = listener.Close()
	}
}

// Close stops listening and cuts the calls under way: one that is held at its first gate
// is not acted upon. The books and the record of calls stay.
func (b *Broker) Close() {
	b.mu.Lock()
	server := b.server
	b.server = nil
	if !b.closed {
		close(b.closing)
		b.closed = true
	}
	b.mu.Unlock()
	if server != nil {
		_ = server.Close()
	}
}

// ending is done when the broker is closed.
func (b *Broker) ending() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closing
}
