package osb

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// listen starts a server that does with each connection as told.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(connection)
		}
	}()
	return "://" + listener.Addr().String()
}

func hang(connection net.Conn) { _, _ = io.Copy(io.Discard, connection) }

// after reads one request and then ends the connection with a text.
func after(text string) func(net.Conn) {
	return func(connection net.Conn) {
		begin(connection, text)
		_ = connection.Close()
	}
}

// begin reads one request and writes a text.
func begin(connection net.Conn, text string) {
	request, err := http.ReadRequest(bufio.NewReader(connection))
	if err == nil {
		_, _ = io.Copy(io.Discard, request.Body)
	}
	_, _ = io.WriteString(connection, text)
}

// closedPort is an address without a listener.
func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return "://" + listener.Addr().String()
}

// dialling is a dialer that fails.
func dialling(err error) func(*Config) {
	return func(c *Config) {
		c.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, err }
	}
}

func quick(c *Config) { c.Timeout = time.Second }

// A timedOut is a connection whose other side is not there any more.
type timedOut struct{ net.Conn }

func (timedOut) Write(b []byte) (int, error)      { return len(b), nil }
func (timedOut) Close() error                     { return nil }
func (timedOut) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (timedOut) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (timedOut) SetDeadline(time.Time) error      { return nil }
func (timedOut) SetReadDeadline(time.Time) error  { return nil }
func (timedOut) SetWriteDeadline(time.Time) error { return nil }
func (timedOut) Read([]byte) (int, error) {
	return 0, &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ETIMEDOUT)}
}

// A faultTest is a way in which no answer comes.
type faultTest struct {
	reason string
	url    string
	change func(*Config)
	kind   Kind
	status int
	cause  string
}

// unusableAnswers are those with a canary in a header that net/http cannot use: it quotes
// such a header in its error.
func unusableAnswers() map[string]string {
	return map[string]string{
		"BadLocation":         "HTTP/1.1 302 Found\r\nLocation: https://h/?token=canary%zz\x7f\r\nContent-Length: 0\r\n\r\n",
		"BadLength":           "HTTP/1.1 200 OK\r\nContent-Length: canary\r\n\r\n",
		"TwoLengths":          "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: canary\r\n\r\n",
		"BadTransferEncoding": "HTTP/1.1 200 OK\r\nTransfer-Encoding: canary\r\n\r\n",
		"BadTrailer":          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Content-Length, canary\r\n\r\n",
		"BadStatus":           "HTTP/1.1 canary OK\r\n\r\n",
		"BadVersion":          "HTTP/canary 200 OK\r\n\r\n",
	}
}

// TestFaults gives every operation every way in which no answer comes; those that take
// their time, only one.
func TestFaults(t *testing.T) {
	t.Parallel()
	tests := map[string]faultTest{
		"Refused": {
			reason: "nothing left", url: "http" + closedPort(t),
			kind: NeverSent, cause: "the connection was refused by 127.0.0.1:",
		},
		"NoSuchName": {
			reason: "nothing left", url: "http://broker.invalid",
			change: dialling(&net.OpError{Op: "dial", Err: &net.DNSError{Name: "broker.invalid", IsNotFound: true}}),
			kind:   NeverSent, cause: `the name "broker.invalid" was not found`,
		},
		"NameServerDown": {
			reason: "nothing left", url: "http://broker.invalid",
			change: dialling(&net.DNSError{Name: "broker.invalid", IsTemporary: true}),
			kind:   NeverSent, cause: `the name "broker.invalid" could not be looked up`,
		},
		"Guarded": {
			reason: "the dialer's own words are told", url: "http://127.0.0.1",
			change: dialling(errors.New("loopback addresses are not allowed here, s3cret or not")),
			kind:   NeverSent, cause: "loopback addresses are not allowed here",
		},
		"DialHangs": {
			reason: "no connection until the timeout: nothing left", url: "http://127.0.0.1",
			change: func(c *Config) {
				quick(c)
				c.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
			},
			kind: NeverSent, cause: "no answer within 1s",
		},
		"HandshakeHangs": {
			reason: "the request waits for TLS: nothing left", url: "https" + listen(t, hang), change: quick,
			kind: NeverSent, cause: "no answer within 1s",
		},
		"HandshakeCut": {
			reason: "the request waits for TLS: nothing left", url: "https" + listen(t, func(c net.Conn) { _ = c.Close() }),
			kind: NeverSent, cause: "the connection was cut",
		},
		"HandshakeOdd": {
			reason: "no TLS", url: "https" + listen(t, after("HTTP/1.1 400 Bad Request\r\n\r\n")),
			kind: NeverSent, cause: "the broker does not speak TLS",
		},
		"Hangs": {
			reason: "the broker may work on it", url: "http" + listen(t, hang), change: quick,
			kind: MaybeReceived, cause: "no answer within 1s",
		},
		"CutAfterReading": {
			reason: "the broker may have done it", url: "http" + listen(t, after("")),
			kind: MaybeReceived, cause: "the connection was cut",
		},
		"CutInHeaders": {
			reason: "the status alone is no answer", url: "http" + listen(t, after("HTTP/1.1 201 Created\r\nContent-Length: 9")),
			kind: MaybeReceived, cause: "the connection was cut",
		},
		"CutInBody": {
			reason: "nor is half a body", url: "http" + listen(t, after("HTTP/1.1 201 Created\r\nContent-Length: 99\r\n\r\n{\"oper")),
			kind: MaybeReceived, status: 201, cause: "the connection was cut",
		},
		"CutInChunk": {
			reason: "nor one in chunks", url: "http" + listen(t, after("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"op")),
			kind: MaybeReceived, status: 200, cause: "the connection was cut",
		},
		"HangsInBody": {
			reason: "the timeout is of the whole", change: quick,
			url: "http" + listen(t, func(c net.Conn) {
				begin(c, "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{")
				hang(c)
			}),
			kind: MaybeReceived, status: 200, cause: "no answer within 1s",
		},
		"NotHTTP": {
			reason: "what came is not repeated", url: "http" + listen(t, after("s3cret-SSH-2.0\r\n\r\n")),
			kind: MaybeReceived, cause: "what came back is not HTTP",
		},
		"BadHeader": {
			reason: "what came is not repeated", url: "http" + listen(t, after("HTTP/1.1 200 OK\r\ns3cret\r\n\r\n")),
			kind: MaybeReceived, cause: "what came back is not HTTP",
		},
	}
	tests["LongHeaders"] = faultTest{
		reason: "its size is the fault", url: "http" + listen(t, after("HTTP/1.1 200 OK\r\nX: "+strings.Repeat("canary", maxHeaderBytes)+"\r\n\r\n")),
		kind: MaybeReceived, cause: "the headers of the answer are too long",
	}
	tests["TimedOut"] = faultTest{
		reason: "what the network says is told", url: "http://127.0.0.1",
		change: func(c *Config) {
			c.Dial = func(context.Context, string, string) (net.Conn, error) { return timedOut{}, nil }
		},
		kind: MaybeReceived, cause: "connection timed out",
	}
	for name, answer := range unusableAnswers() {
		tests[name] = faultTest{
			reason: "no value of a header is repeated", url: "http" + listen(t, after(answer)),
			kind: MaybeReceived, cause: "what came back is not HTTP",
		}
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := test.change
			if change == nil {
				change = func(*Config) {}
			}
			client := connect(t, test.url, change, func(c *Config) { c.Auth.Password = "s3cret" })
			for _, operation := range operations() {
				if strings.Contains(test.cause, "within") && operation.name != "Provision" {
					continue
				}
				t.Run(operation.name, func(t *testing.T) {
					t.Parallel()
					_, err := operation.call(t.Context(), client)
					failed := failure(t, err)
					assert.Equal(t, test.kind, failed.Kind, "%s: %v", test.reason, err)
					assert.Equal(t, test.status, failed.StatusCode)
					require.Error(t, failed.Cause)
					assert.Contains(t, failed.Cause.Error(), test.cause)
					assert.NotContains(t, err.Error(), "s3cret")
					assert.NotContains(t, err.Error(), "canary")
					assert.NotContains(t, err.Error(), "/v2/", "no URL")
					assert.NotContains(t, err.Error(), "service_id")
				})
			}
		})
	}
}

// TestCutBeforeReading may be seen as a reset, a broken pipe or an end, but never as
// anything that did not leave.
func TestCutBeforeReading(t *testing.T) {
	t.Parallel()
	client := connect(t, "http"+listen(t, func(c net.Conn) { _ = c.Close() }))
	for _, operation := range operations() {
		_, err := operation.call(t.Context(), client)
		assert.Equal(t, MaybeReceived, KindOf(err), operation.name)
	}
}

func TestContexts(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{})
	client := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		_, _ = io.Copy(io.Discard, request.Body)
		reached <- struct{}{}
		<-request.Context().Done()
	}))
	request := completeRequests().provision

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := client.Provision(cancelled, request)
	assert.Equal(t, NeverSent, KindOf(err), "cancelled before it began")
	assert.ErrorIs(t, err, context.Canceled)

	running, cancel := context.WithCancel(t.Context())
	go func() { <-reached; cancel() }()
	_, err = client.Provision(running, request)
	assert.Equal(t, MaybeReceived, KindOf(err), "cancelled while the broker worked")
	assert.EqualError(t, err, "cannot provision: the call was cancelled")
	assert.ErrorIs(t, err, context.Canceled)

	go func() { <-reached }()
	hurried, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = client.Provision(hurried, request)
	assert.Equal(t, MaybeReceived, KindOf(err))
	assert.EqualError(t, err, "cannot provision: no answer within the time that the caller gave")
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}

// TestTimeoutsSayHowLong: each timeout has its own words and its own time.
func TestTimeoutsSayHowLong(t *testing.T) {
	t.Parallel()
	silent := func(ctx context.Context, _, _ string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go hang(theirs)
		context.AfterFunc(ctx, func() { _ = theirs.Close() })
		return ours, nil
	}
	late := func(ctx context.Context, _, _ string) (net.Conn, error) {
		select {
		case <-time.After(10 * time.Second):
			return nil, &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	for name, tc := range map[string]struct {
		url     string
		dial    func(context.Context, string, string) (net.Conn, error)
		timeout time.Duration
		want    string
	}{
		"Dial":      {"https://broker", late, time.Minute, "no connection within 10s"},
		"Handshake": {"https://broker", silent, time.Minute, "no TLS handshake within 10s"},
		"Answer":    {"http://broker", silent, time.Minute, "no answer within 1m0s"},
		"Short":     {"https://broker", late, 5 * time.Second, "no answer within 5s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client, err := New(Config{URL: tc.url, Dial: tc.dial, Timeout: tc.timeout, Direct: true})
				require.NoError(t, err)
				_, err = client.Catalog(t.Context(), "")
				assert.ErrorContains(t, err, tc.want)
				client.Close()
			})
		})
	}
}

// TestNothingIsSentTwice: the broker answers the first request of a connection and cuts
// the connection at the second, as one does whose keep-alive ends. net/http would
// like to repeat what it takes for idempotent.
func TestNothingIsSentTwice(t *testing.T) {
	t.Parallel()
	for _, operation := range operations() {
		t.Run(operation.name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int32
			client := connect(t, "http"+listen(t, func(connection net.Conn) {
				defer func() { _ = connection.Close() }()
				reader := bufio.NewReader(connection)
				for range 2 {
					request, err := http.ReadRequest(reader)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, request.Body)
					if requests.Add(1) > 1 {
						return
					}
					_, _ = io.WriteString(connection, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
				}
			}))
			_, err := operation.call(t.Context(), client)
			require.Equal(t, Rejected, KindOf(err))
			_, err = operation.call(t.Context(), client)
			assert.Equal(t, MaybeReceived, KindOf(err))
			if operation.name == "Catalog" || operation.name == "Poll" || strings.HasPrefix(operation.name, "Fetch") {
				assert.LessOrEqual(t, requests.Load(), int32(3), "a GET may be repeated once")
				return
			}
			assert.Equal(t, int32(2), requests.Load(), "one for each call")
		})
	}
}

// TestNewConnectionFails: the second connection fails after the first took nothing, so
// nothing left.
func TestNewConnectionFails(t *testing.T) {
	t.Parallel()
	left := sentTracker{}
	ctx := left.watch(t.Context())
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	refused := false // a closed server's port may be another test's a moment later
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		if refused {
			return nil, syscall.ECONNREFUSED
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}}}
	get := func() error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		require.NoError(t, err)
		response, err := client.Do(request)
		if err == nil {
			err = response.Body.Close()
		}
		return err
	}
	assert.Equal(t, NeverSent, left.kind(io.EOF))
	require.NoError(t, get())
	assert.Equal(t, MaybeReceived, left.kind(io.EOF))
	refused = true
	require.ErrorIs(t, get(), syscall.ECONNREFUSED)
	assert.Equal(t, NeverSent, left.kind(io.EOF))
}

// goAway is an HTTP/2 server that takes one request and leaves, with debug data.
func goAway(connection net.Conn) {
	defer func() { _ = connection.Close() }()
	frame := func(kind byte, payload string) []byte {
		return append([]byte{0, 0, byte(len(payload)), kind, 0, 0, 0, 0, 0}, payload...)
	}
	const settings, away = 4, 7
	preface := make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
	if _, err := io.ReadFull(connection, preface); err != nil {
		return
	}
	_, _ = connection.Write(frame(settings, ""))
	for head := make([]byte, 9); ; {
		if _, err := io.ReadFull(connection, head); err != nil {
			return
		}
		size := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
		_, _ = io.CopyN(io.Discard, connection, size)
		if head[3] == 1 { // the headers of a request
			_, _ = connection.Write(frame(away, "\x00\x00\x00\x01\x00\x00\x00\x02canary"))
			return
		}
	}
}

// TestNoDebugDataIsRepeated: net/http quotes what an HTTP/2 server says as it leaves.
func TestNoDebugDataIsRepeated(t *testing.T) {
	t.Parallel()
	ours := newIssuer(t)
	certificate := ours.issue(t, "127.0.0.1", time.Now().Add(time.Hour))
	client := connect(t, "https"+listen(t, func(connection net.Conn) {
		goAway(tls.Server(connection, &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12}))
	}), func(c *Config) { c.CABundle = ours.pem })
	for _, operation := range operations() {
		_, err := operation.call(t.Context(), client)
		assert.Equal(t, MaybeReceived, KindOf(err), operation.name)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "canary", operation.name)
	}
}
