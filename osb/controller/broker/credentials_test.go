package broker

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/certs"
)

// A Secret with a client certificate is shown as one: beside a password, or alone.
func TestBrokerClientCertificate(t *testing.T) {
	// One server hears them all, one at a time.
	issued, err := certs.Issue("brokers", []string{"controller"}, time.Now(), time.Hour)
	require.NoError(t, err)
	seen := make(chan []*x509.Certificate, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.TLS.PeerCertificates
		_, _ = w.Write([]byte(`{"services":[]}`))
	}))
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	pair := map[string]string{"tls.crt": string(issued.Leaf.Cert), "tls.key": string(issued.Leaf.Key)}
	for name, test := range map[string]struct {
		reason string
		data   map[string]string
		shown  int
		says   string
	}{
		"Alone":    {reason: "no password is needed", data: pair, shown: 1},
		"Password": {reason: "none is asked for by a password alone", data: map[string]string{"username": "u", "password": "p"}},
		"Half":     {reason: "what is not a pair is no credential", data: map[string]string{"tls.crt": string(issued.Leaf.Cert), "username": "u", "password": "p"}, says: "they must be a pair"},
		"Nonsense": {reason: "and its content is not told", data: map[string]string{"tls.crt": "canary", "tls.key": "canary"}, says: "tls.crt and tls.key"},
	} {
		t.Run(name, func(t *testing.T) {
			broker := clusterBroker(server.URL, basicAuth("pair"))
			broker.Spec.InsecureSkipTLSVerify = true
			b, _, _ := brokersWith(t, broker, secretWith("pair", test.data))
			c, err := b.Client(t.Context(), theBroker)
			if test.says != "" {
				require.ErrorContains(t, err, test.says, test.reason)
				require.NotContains(t, err.Error(), "canary")
				return
			}
			require.NoError(t, err)
			_, err = c.Catalog(t.Context(), "")
			require.NoError(t, err)
			assert.Len(t, <-seen, test.shown, test.reason)
		})
	}
}
