package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pipes is a listener whose connections are in memory, so that their time is that of the test.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	conn, open := <-p
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// serving has a server answer by how much of a body it could read, in the time of a test.
func serving(t *testing.T, test func(t *testing.T, dial func() net.Conn)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Options{Registerer: prometheus.NewRegistry(), Bounds: DefaultBounds(), Log: logr.Discard()})
		require.NoError(t, err)
		s.Register("/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			_, _ = fmt.Fprintf(w, "read %d bytes", len(body))
		}))
		server, listener := s.http(t.Context()), make(pipes)
		ended := make(chan error)
		go func() { ended <- server.Serve(listener) }()
		defer func() {
			require.NoError(t, server.Close())
			require.ErrorIs(t, <-ended, http.ErrServerClosed)
		}()
		test(t, func() net.Conn {
			here, there := net.Pipe()
			listener <- there
			return here
		})
	})
}

// asks sends a request with some bytes of the body that it announces, and returns the answer's text.
func asks(t *testing.T, conn net.Conn, sent, announced int) string {
	t.Helper()
	_, err := fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: hooks\r\nContent-Length: %d\r\n\r\n%s", announced, make([]byte, sent))
	require.NoError(t, err)
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return string(text)
}

// TestConnectionsAreKeptForTheirClient: an API server opens connections that it may need only later, and keeps each for 90 s:
// none is closed before, neither one that was never used nor one that was.
func TestConnectionsAreKeptForTheirClient(t *testing.T) {
	serving(t, func(t *testing.T, dial func() net.Conn) {
		conn := dial()
		for range 3 {
			time.Sleep(91 * time.Second)
			assert.Equal(t, "read 5 bytes", asks(t, conn, 5, 5))
		}
	})
}

// TestHeadersHaveATime: a connection whose client does not send a whole header is closed.
func TestHeadersHaveATime(t *testing.T) {
	serving(t, func(t *testing.T, dial func() net.Conn) {
		conn, began := dial(), time.Now()
		_, err := fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: ho")
		require.NoError(t, err)
		_, err = io.ReadAll(conn)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, time.Since(began), idleTime)
		assert.Less(t, time.Since(began), idleTime+time.Second)
	})
}

// TestBodiesHaveATime: the rest of a body that is late is not read, also where its connection was idle before.
func TestBodiesHaveATime(t *testing.T) {
	serving(t, func(t *testing.T, dial func() net.Conn) {
		conn := dial()
		time.Sleep(time.Minute)
		began := time.Now()
		assert.Equal(t, "read 3 bytes", asks(t, conn, 3, 5))
		assert.Equal(t, readTime, time.Since(began))
	})
}
