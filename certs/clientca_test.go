package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A clientCA issues certificates of clients.
type clientCA struct {
	by   authority
	cert []byte
}

func newClientCA(t *testing.T) clientCA {
	t.Helper()
	pair, by, err := issueCA("clients", time.Now(), time.Hour)
	require.NoError(t, err)
	return clientCA{by: by, cert: pair.Cert}
}

func (c clientCA) client(t *testing.T, name string, usage x509.ExtKeyUsage) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{usage},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, c.by.cert, &key.PublicKey, c.by.key)
	require.NoError(t, err)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// Only who shows a certificate of the authority, by one of the names, is answered; a file
// that changes counts at once, one that cannot be read does not.
func TestOnlyKnownClientsAreAnswered(t *testing.T) {
	t.Parallel()
	ca, another := newClientCA(t), newClientCA(t)
	file := filepath.Join(t.TempDir(), "clients.crt")
	require.NoError(t, os.WriteFile(file, ca.cert, 0o600))
	clients, err := NewClients(file, []string{"apiserver"})
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ErrorLog = nil
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	clients.Require(server.TLS)
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())

	ask := func(version uint16, with *tls.Certificate) error {
		config := &tls.Config{RootCAs: roots, MaxVersion: version, ClientSessionCache: tls.NewLRUClientSessionCache(1)}
		if with != nil {
			config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return with, nil }
		}
		transport := &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}
		defer transport.CloseIdleConnections()
		var err error
		for range 2 { // the second connection resumes the first
			request, failed := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
			require.NoError(t, failed)
			response, failed := (&http.Client{Transport: transport}).Do(request)
			if failed != nil {
				return failed
			}
			err = response.Body.Close()
		}
		return err
	}
	known := ca.client(t, "apiserver", x509.ExtKeyUsageClientAuth)
	for name, tc := range map[string]struct {
		reason   string
		with     *tls.Certificate
		answered bool
	}{
		"Known":          {reason: "it is the API server", with: known, answered: true},
		"None":           {reason: "anybody could ask", with: nil},
		"OtherAuthority": {reason: "anybody can issue", with: another.client(t, "apiserver", x509.ExtKeyUsageClientAuth)},
		"OtherName":      {reason: "the authority has other clients", with: ca.client(t, "kubelet", x509.ExtKeyUsageClientAuth)},
		"NoClient":       {reason: "it is a server's", with: ca.client(t, "apiserver", x509.ExtKeyUsageServerAuth)},
	} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			assert.Equal(t, tc.answered, ask(version, tc.with) == nil, "%s: %s, %s", name, tc.reason, tls.VersionName(version))
		}
	}

	require.NoError(t, os.WriteFile(file, []byte("none"), 0o600))
	require.NoError(t, ask(tls.VersionTLS13, known), "what was read before counts on")
	require.NoError(t, os.WriteFile(file, another.cert, 0o600))
	require.Error(t, ask(tls.VersionTLS13, known), "the authority was replaced")
	require.NoError(t, ask(tls.VersionTLS13, another.client(t, "apiserver", x509.ExtKeyUsageClientAuth)))
}

func TestNewClientsRefuses(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := NewClients(file, nil)
	require.ErrorContains(t, err, "holds no certificate")
	_, err = NewClients(file+".absent", nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}
