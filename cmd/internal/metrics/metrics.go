// Package metrics serves /metrics of the daemons by HTTPS to users with
// permission to read it, or, by a flag, by HTTP to everyone.
package metrics

import (
	"crypto/tls"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/defaultplan/defaultplan/certs"
)

// lifetime of the certificate, which is generated at each start: longer than
// any process runs.
const lifetime = 10 * 365 * 24 * time.Hour

// Options are where metrics are served, and to whom.
type Options struct {
	// Address is HOST:PORT; 0 means nowhere.
	Address string
	// Secure serves them by HTTPS to users with permission to get /metrics.
	// Otherwise they are served by HTTP, to everyone.
	Secure bool
}

// NewOptions returns the defaults of the flags.
func NewOptions() Options { return Options{Address: ":8080", Secure: true} }

// Bind adds the options to flags.
func (o *Options) Bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.Address, "metrics-address", o.Address, "address of /metrics; 0 means none")
	flags.BoolVar(&o.Secure, "metrics-secure", o.Secure,
		"serve /metrics by HTTPS, to users who may get that URL (ClusterRole defaultplan-metrics-reader); false: by HTTP, to everyone")
}

// Server returns the manager's options for them.
func (o *Options) Server() (metricsserver.Options, error) {
	server := metricsserver.Options{BindAddress: o.Address}
	if !o.Secure {
		return server, nil
	}
	certificate, err := selfSigned()
	if err != nil {
		return server, fmt.Errorf("cannot serve metrics: %w", err)
	}
	server.SecureServing, server.FilterProvider = true, readersOnly
	server.TLSOpts = []func(*tls.Config){func(config *tls.Config) {
		// As at the port of the hooks: HTTP/2 would only add attack surface.
		config.NextProtos, config.MinVersion = []string{"http/1.1"}, tls.VersionTLS12
		config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &certificate, nil }
	}}
	return server, nil
}

// selfSigned is a certificate that no client can verify; it protects tokens and metrics
// from eavesdroppers. controller-runtime makes one itself if given none, but with RSA keys
// and only as it starts to listen: the process could be ready before it can be scraped.
func selfSigned() (tls.Certificate, error) {
	issued, err := certs.Issue("defaultplan metrics", []string{"localhost"}, time.Now(), lifetime)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(issued.Leaf.Cert, issued.Leaf.Key)
}
