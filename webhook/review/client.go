package review

import (
	"cmp"
	"context"
	"crypto/tls"
)

// unverified is the client name of a call without a certificate: the API
// server, or any client that reaches the port. The user of such a review is not
// trusted.
const unverified = "unverified"

type clientKey struct{}

// withClient stores the name in a client's certificate. If certificates are
// required, connections without a valid one fail before.
func withClient(ctx context.Context, state *tls.ConnectionState) context.Context {
	if state == nil || len(state.PeerCertificates) == 0 {
		return ctx
	}
	return context.WithValue(ctx, clientKey{}, state.PeerCertificates[0].Subject.CommonName)
}

// clientOf is that name, or unverified.
func clientOf(ctx context.Context) string {
	name, _ := ctx.Value(clientKey{}).(string)
	return cmp.Or(name, unverified)
}
