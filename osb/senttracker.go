package osb

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
)

// A sentTracker knows whether a request may have been sent. From the moment a connection is
// handed to it, it may have: what is written then lies in buffers that cannot be
// inspected. Looking up the name, dialling, a proxy's CONNECT and the TLS handshake
// come before that.
type sentTracker struct {
	connected atomic.Bool
}

// watch returns a context that tells the tracker of the request made with it. When
// net/http asks for a second connection, the first one did not take a changing
// request (see newTransport), so tracking starts again.
func (d *sentTracker) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { d.connected.Store(false) },
		GotConn: func(httptrace.GotConnInfo) { d.connected.Store(true) },
	})
}

// kind returns the kind of an error that came instead of a response.
func (d *sentTracker) kind(err error) Kind {
	if d.connected.Load() && !clientCertificateRefused(err) {
		return MaybeReceived
	}
	return NeverSent
}
