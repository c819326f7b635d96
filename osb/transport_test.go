package osb

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An issuer signs certificates for tests.
type issuer struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

func newIssuer(t *testing.T) issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	certificate, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return issuer{certificate, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

func (i issuer) issue(t *testing.T, name string, until time.Time) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotAfter: until,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, i.certificate, key.Public(), i.key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// serveTLS starts a server that answers with the protocol and the name that was asked
// for, as the "operation".
func serveTLS(t *testing.T, change func(*tls.Config)) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{"operation":"`+r.Proto+" "+r.TLS.ServerName+`"}`)
	}))
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS10}
	change(server.TLS)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func TestTLS(t *testing.T) {
	t.Parallel()
	ours, other := newIssuer(t), newIssuer(t)
	with := func(certificate tls.Certificate) func(*tls.Config) {
		return func(c *tls.Config) { c.Certificates = []tls.Certificate{certificate} }
	}
	good := serveTLS(t, with(ours.issue(t, "broker.test", time.Now().Add(time.Hour))))
	expired := serveTLS(t, with(ours.issue(t, "broker.test", time.Now().Add(-time.Hour))))
	old := serveTLS(t, func(c *tls.Config) {
		with(ours.issue(t, "broker.test", time.Now().Add(time.Hour)))(c)
		c.MaxVersion = tls.VersionTLS11
	})
	// to sends the name in the URL to the server at hand.
	to := func(server *httptest.Server, change func(*Config)) func(*Config) {
		return func(c *Config) {
			change(c)
			c.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
			}
		}
	}
	trusting := func(c *Config) { c.CABundle = append(append([]byte{}, other.pem...), ours.pem...) }
	tests := map[string]struct {
		reason, url string
		change      func(*Config)
		key, err    string
	}{
		"Trusted":     {"HTTP/2, with the server's name", "https://broker.test", to(good, trusting), "HTTP/2.0 broker.test", ""},
		"Untrusted":   {"the system does not know it", "https://broker.test", to(good, func(*Config) {}), "", "the certificate is not trusted: set caBundle"},
		"WrongBundle": {"nor does another", "https://broker.test", to(good, func(c *Config) { c.CABundle = other.pem }), "", "the certificate is not trusted: set caBundle"},
		"WrongName":   {"said with the name", "https://elsewhere.test", to(good, trusting), "", `the certificate is not for the name "elsewhere.test"`},
		"Expired":     {"said as it is", "https://broker.test", to(expired, trusting), "", "the certificate has expired or is not valid yet"},
		"TooOld":      {"1.2 is the least", "https://broker.test", to(old, trusting), "", "the broker refused the TLS connection: tls: protocol version not supported"},
		"Insecure":    {"takes any", "https://elsewhere.test", to(expired, func(c *Config) { c.InsecureSkipVerify = true }), "HTTP/2.0 elsewhere.test", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := connect(t, test.url, test.change)
			response, err := client.Provision(t.Context(), completeRequests().provision)
			if test.err != "" {
				assert.EqualError(t, err, "cannot provision: "+test.err, test.reason)
				assert.Equal(t, NeverSent, KindOf(err))
				return
			}
			require.NoError(t, err, test.reason)
			assert.Equal(t, test.key, *response.Operation, test.reason)
		})
	}
}

func TestClientCertificate(t *testing.T) {
	t.Parallel()
	ours, other := newIssuer(t), newIssuer(t)
	accepted := x509.NewCertPool()
	accepted.AddCert(ours.certificate)
	server := serveTLS(t, func(c *tls.Config) {
		c.Certificates = []tls.Certificate{ours.issue(t, "broker.test", time.Now().Add(time.Hour))}
		c.ClientCAs, c.ClientAuth = accepted, tls.RequireAndVerifyClientCert
	})
	shown := ours.issue(t, "platform", time.Now().Add(time.Hour))
	client := connect(t, server.URL, func(c *Config) { c.CABundle, c.ClientCertificate = ours.pem, &shown })
	_, err := client.Provision(t.Context(), completeRequests().provision)
	require.NoError(t, err)

	foreign := other.issue(t, "platform", time.Now().Add(time.Hour))
	for _, shown := range []*tls.Certificate{nil, &foreign} {
		client := connect(t, server.URL, func(c *Config) { c.CABundle, c.ClientCertificate = ours.pem, shown })
		_, err := client.Provision(t.Context(), completeRequests().provision)
		// A reset may hide the alert; then the outcome is unknown.
		if KindOf(err) != MaybeReceived {
			assert.Equal(t, NeverSent, KindOf(err))
			assert.EqualError(t, err, "cannot provision: the broker refused the client certificate, or wants one")
		}
	}
}

func TestClientCertificateRefused(t *testing.T) {
	t.Parallel()
	left := sentTracker{}
	left.connected.Store(true)
	remote := func(alert tls.AlertError) error { return &net.OpError{Op: "remote error", Err: alert} }
	assert.Equal(t, NeverSent, left.kind(remote(116)), "certificate_required ends a handshake")
	assert.Equal(t, NeverSent, left.kind(remote(42)), "and so does bad_certificate")
	assert.Equal(t, MaybeReceived, left.kind(remote(80)), "internal_error may come at any time")
	assert.Equal(t, MaybeReceived, left.kind(&net.OpError{Op: "local error", Err: tls.AlertError(42)}), "our own alert says nothing of the broker")
}

func TestRedirectionsAreNotFollowed(t *testing.T) {
	t.Parallel()
	target := &recorder{}
	target.answer(200, `{"services":[],"state":"succeeded"}`)
	server := httptest.NewServer(target)
	defer server.Close()
	broker := &recorder{header: map[string]string{"Location": server.URL}}
	client := serve(t, broker)
	for _, status := range []int{300, 301, 302, 303, 307, 308} {
		for _, operation := range operations() {
			broker.answer(status, "")
			_, err := operation.call(t.Context(), client)
			assert.Equal(t, BrokerFault, KindOf(err), "%s %d", operation.name, status)
			assert.False(t, failure(t, err).Malformed)
		}
	}
	assert.Empty(t, target.seen(), "nothing came there")
}

// TestProxy runs itself in a process with a proxy in its environment, which net/http
// reads only once.
func TestProxy(t *testing.T) {
	t.Parallel()
	if os.Getenv("OSB_TEST_BEHIND_PROXY") != "" {
		_, err := connect(t, "http://broker.invalid").Catalog(t.Context(), "")
		require.NoError(t, err)
		// The proxy would have answered.
		_, err = connect(t, "http://broker.invalid", func(c *Config) { c.Direct = true }).Catalog(t.Context(), "")
		require.Equal(t, NeverSent, KindOf(err))
		_, err = connect(t, "https://broker.invalid").Catalog(t.Context(), "")
		require.Equal(t, NeverSent, KindOf(err))
		require.ErrorContains(t, err, "the proxy refused to connect to the broker: status 407")
		require.NotContains(t, err.Error(), "canary", "its own words are not repeated")
		return
	}
	proxy := &recorder{}
	proxy.answer(200, `{"services":[]}`)
	server := httptest.NewServer(proxy)
	defer server.Close()
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxy$")
	command.Env = append(os.Environ(), "OSB_TEST_BEHIND_PROXY=1", "HTTP_PROXY="+server.URL, "NO_PROXY=", "no_proxy=",
		"HTTPS_PROXY=http"+listen(t, after("HTTP/1.1 407 canary\r\nContent-Length: 0\r\n\r\n")))
	output, err := command.CombinedOutput()
	require.NoError(t, err, string(output))
	require.Len(t, proxy.seen(), 1)
	assert.Equal(t, "http://broker.invalid/v2/catalog", proxy.seen()[0].URI)
}
