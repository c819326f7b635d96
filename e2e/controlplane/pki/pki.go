package pki

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"os"
	"time"
)

// File names in the folder that Ensure fills.
const (
	CACert            = "ca.crt"
	CAKey             = "ca.key"
	ServerCert        = "apiserver.crt"
	ServerKey         = "apiserver.key"
	AdminCert         = "admin.crt"
	AdminKey          = "admin.key"
	ServiceAccountKey = "service-account.key"
)

// lifetime is long because nothing rotates these: they guard a throw-away cluster on the loopback.
const lifetime = 10 * 365 * 24 * time.Hour

// skew is for clocks that disagree a little, in containers and virtual machines.
const skew = time.Hour

// margin keeps a certificate from ending while the process that was started with it runs.
const margin = 24 * time.Hour

// mastersGroup is the group that the API server lets do everything.
const mastersGroup = "system:masters"

// Ensure fills dir with a CA, a serving certificate for the loopback, a client certificate of the
// administrator and the key that signs service-account tokens. What is there and good at now is kept.
func Ensure(dir string, now time.Time) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("cannot make certificate folder %q: %w", dir, err)
	}
	s := store{dir: dir, now: now}
	ca, err := s.ensurePair("ca", authority(), nil)
	if err != nil {
		return err
	}
	if _, err := s.ensurePair("apiserver", server(), &ca); err != nil {
		return err
	}
	if _, err := s.ensurePair("admin", admin(), &ca); err != nil {
		return err
	}
	return s.ensureKey(ServiceAccountKey)
}

func authority() *x509.Certificate {
	return &x509.Certificate{
		Subject:               pkix.Name{CommonName: "controlplane-ca"},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
}

func server() *x509.Certificate {
	return &x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
}

func admin() *x509.Certificate {
	return &x509.Certificate{
		Subject:     pkix.Name{CommonName: "admin", Organization: []string{mastersGroup}},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
}
