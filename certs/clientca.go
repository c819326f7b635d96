package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
)

// Clients says who is answered at all: who shows a certificate of one of the authorities
// of a file. The file is read again when it changes.
type Clients struct {
	file  string
	names []string

	mu      sync.Mutex
	content []byte
	pool    *x509.CertPool
}

// NewClients reads the authorities of a PEM file. Where names are given, the common name
// of a client must be one of them. It fails when the file holds no certificate.
func NewClients(file string, names []string) (*Clients, error) {
	c := &Clients{file: file, names: names}
	if err := c.read(); err != nil {
		return nil, err
	}
	return c, nil
}

// Require has a server ask every client for its certificate.
func (c *Clients) Require(config *tls.Config) {
	config.ClientAuth = tls.RequireAnyClientCert
	// Not ClientCAs, which would be those of the start for ever. This is asked of every
	// connection, one that is resumed as well.
	config.VerifyConnection = c.verify
}

func (c *Clients) verify(state tls.ConnectionState) error {
	if len(state.PeerCertificates) == 0 {
		return errors.New("the client shows no certificate")
	}
	intermediates := x509.NewCertPool()
	for _, cert := range state.PeerCertificates[1:] {
		intermediates.AddCert(cert)
	}
	leaf := state.PeerCertificates[0]
	_, err := leaf.Verify(x509.VerifyOptions{
		Roots: c.authorities(), Intermediates: intermediates, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return fmt.Errorf("the client is not known: %w", err)
	}
	if len(c.names) > 0 && !slices.Contains(c.names, leaf.Subject.CommonName) {
		return fmt.Errorf("client %q is not one that is answered", leaf.Subject.CommonName)
	}
	return nil
}

// authorities are those of the file as it is now; if it cannot be used now, those that
// it held before.
func (c *Clients) authorities() *x509.CertPool {
	c.mu.Lock()
	defer c.mu.Unlock()
	// Connections are few: API servers keep theirs.
	_ = c.read()
	return c.pool
}

func (c *Clients) read() error {
	content, err := os.ReadFile(c.file)
	if err != nil {
		return fmt.Errorf("cannot read the authorities of clients: %w", err)
	}
	if c.pool != nil && bytes.Equal(content, c.content) {
		return nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(content) {
		return fmt.Errorf("cannot use %q: it holds no certificate in PEM", c.file)
	}
	c.content, c.pool = content, pool
	return nil
}
