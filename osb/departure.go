package osb

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
)

// A departure knows whether a request may have left. From the moment a connection is
// handed to it, it may have: what is written then lies in buffers that nobody can
// look into. Looking up the name, dialling, a proxy's CONNECT and the TLS handshake
// come before that.
type departure struct {
	connected atomic.Bool
}

// watch returns a context that tells the departure of the request made with it. When
// net/http asks for a second connection, the first one did not take a changing
// request (see newTransport), so all starts anew.
func (d *departure) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { d.connected.Store(false) },
		GotConn: func(httptrace.GotConnInfo) { d.connected.Store(true) },
	})
}

// kind is that of an error that came instead of an answer.
func (d *departure) kind(err error) Kind {
	if d.connected.Load() && !clientCertificateRefused(err) {
		return MaybeReceived
	}
	return NeverSent
}
