package osb

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	dialTimeout      = 10 * time.Second
	handshakeTimeout = 10 * time.Second
	// idleTimeout is shorter than any broker's own: gunicorn closes an idle connection
	// after 2 s, Node.js after 5 s. A PUT that meets the close on its way is lost without
	// a word, and all that is left is to clean up behind it; under load, connections
	// are never idle for so long.
	idleTimeout = time.Second
	// pingAfter and pingTimeout find HTTP/2 connections that died silently, which would
	// otherwise swallow one request after another.
	pingAfter   = 15 * time.Second
	pingTimeout = 5 * time.Second

	maxIdleConnections = 64
	maxHeaderBytes     = 256 << 10
)

// newTransport returns a transport for this broker alone: its trust, its client certificate
// and its connections are not shared with other brokers.
//
// It sends no changing request twice. net/http repeats a PUT, PATCH or DELETE on a new
// connection only if not a byte of it was written to the old one, or if an HTTP/2
// server said that it did not look at it; GETs it may repeat once more.
func newTransport(config Config) (*http.Transport, error) {
	trust, err := newTrust(config)
	if err != nil {
		return nil, err
	}
	dial := config.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: dialTimeout}).DialContext
	}
	dialed := func(ctx context.Context, network, address string) (net.Conn, error) {
		began := time.Now()
		connection, err := dial(ctx, network, address)
		switch late := net.Error(nil); {
		case err == nil:
			return connection, nil
		case ctx.Err() == nil && errors.As(err, &late) && late.Timeout():
			// It is not the time for the whole call that was over.
			return nil, ownError{fmt.Errorf("no connection within %s", time.Since(began).Round(time.Second))}
		}
		return nil, ownError{err}
	}
	proxy := http.ProxyFromEnvironment
	if config.Direct {
		proxy = nil
	}
	return &http.Transport{
		Proxy:                  proxy,
		OnProxyConnectResponse: proxyConnected,
		DialContext:            dialed,
		TLSClientConfig:        trust,
		TLSHandshakeTimeout:    handshakeTimeout,
		MaxIdleConns:           maxIdleConnections,
		MaxIdleConnsPerHost:    maxIdleConnections,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		// A dialer or a TLS configuration of our own would turn HTTP/2 off.
		ForceAttemptHTTP2: true,
		HTTP2:             &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	}, nil
}

// proxyConnected refuses what is no tunnel. net/http would repeat the proxy's own words.
func proxyConnected(_ context.Context, _ *url.URL, _ *http.Request, response *http.Response) error {
	if response.StatusCode != http.StatusOK {
		return ownError{fmt.Errorf("the proxy refused to connect to the broker: status %d", response.StatusCode)}
	}
	return nil
}

func newTrust(config Config) (*tls.Config, error) {
	trust := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: config.InsecureSkipVerify, //nolint:gosec // the operator's explicit wish, per broker
	}
	if config.ClientCertificate != nil {
		trust.Certificates = []tls.Certificate{*config.ClientCertificate}
	}
	if len(config.CABundle) == 0 {
		return trust, nil
	}
	roots, err := addRoots(config.CABundle)
	if err != nil {
		return nil, fmt.Errorf("cannot use the CA bundle: %w", err)
	}
	trust.RootCAs = roots
	return trust, nil
}

// addRoots is the system's roots and the bundle's. A bundle in which one certificate
// does not parse is refused whole, not trusted in part.
func addRoots(bundle []byte) (*x509.CertPool, error) {
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	count := 0
	for rest := bundle; ; {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		if block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("it holds a PEM block %q; allowed are only CERTIFICATE blocks", Printable(block.Type, maxName))
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("its certificate number %d does not parse", count+1)
		}
		roots.AddCert(certificate)
		count++
	}
	if count == 0 {
		return nil, errors.New("it holds no certificate; allowed are certificates in PEM")
	}
	return roots, nil
}
