package review

import (
	"cmp"
	"context"
	"crypto/tls"
)

// unverified is who calls without a certificate: the API server, or anyone who reaches the port. What such a review says
// of its user is not to be believed.
const unverified = "unverified"

type clientKey struct{}

// withClient keeps the name in the certificate that a caller showed. Where certificates are asked for, a connection
// without a valid one is none.
func withClient(ctx context.Context, state *tls.ConnectionState) context.Context {
	if state == nil || len(state.PeerCertificates) == 0 {
		return ctx
	}
	return context.WithValue(ctx, clientKey{}, state.PeerCertificates[0].Subject.CommonName)
}

// clientOf is that name, or that there is none.
func clientOf(ctx context.Context) string {
	name, _ := ctx.Value(clientKey{}).(string)
	return cmp.Or(name, unverified)
}
