package review

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestClientIsToldByItsCertificate(t *testing.T) {
	t.Parallel()
	shown := &tls.ConnectionState{PeerCertificates: []*x509.Certificate{{Subject: pkix.Name{CommonName: "kube-apiserver"}}}}
	assert.Equal(t, "kube-apiserver", clientOf(withClient(t.Context(), shown)))
	for _, none := range []*tls.ConnectionState{nil, {}, {PeerCertificates: []*x509.Certificate{{}}}} {
		assert.Equal(t, "unverified", clientOf(withClient(t.Context(), none)))
	}
}
