package osbtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"testing"

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

func serve(server *http.Server, listener net.Listener) {
	run := server.Serve
	if server.TLSConfig != nil {
		run = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	if err := run(listener); !errors.Is(err, http.ErrServerClosed) {
		_ = listener.Close()
	}
}

// A closing is when the broker is closed; one that listens again opens another.
type closing struct {
	mu     *sync.Mutex
	done   chan struct{}
	closed bool
}

// ending is done when the broker is closed.
func (c *closing) ending() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done
}

// reopen is for a broker that listens, with its mutex locked.
func (c *closing) reopen() {
	if c.closed {
		c.done, c.closed = make(chan struct{}), false
	}
}

// close ends all that waits, with the broker's mutex locked.
func (c *closing) close() {
	if !c.closed {
		close(c.done)
		c.closed = true
	}
}
