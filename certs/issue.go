package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// backdate is how far before now a certificate starts to be valid: the clock
// of the API server that verifies it may be behind ours.
const backdate = 5 * time.Minute

// A Pair is a certificate and its private key, both PEM encoded.
type Pair struct {
	// Cert is one PEM block of type CERTIFICATE.
	Cert []byte
	// Key is one PEM block of type PRIVATE KEY (PKCS #8).
	Key []byte
}

// Issued is a new certificate authority and a leaf that it signed.
type Issued struct {
	// CA signs the leaf; its Cert is what a webhook configuration carries as
	// caBundle.
	CA Pair
	// Leaf is what the server presents.
	Leaf Pair
}

// Issue makes a certificate authority named commonName and a serving leaf for
// hosts (DNS names or IP addresses), both valid from shortly before now for
// lifetime. It fails when hosts is empty or lifetime is not positive.
func Issue(commonName string, hosts []string, now time.Time, lifetime time.Duration) (Issued, error) {
	if len(hosts) == 0 {
		return Issued{}, errors.New("cannot issue a certificate: no host is named; give at least one DNS name or IP address")
	}
	if lifetime <= 0 {
		return Issued{}, fmt.Errorf("cannot issue a certificate: lifetime %s is not positive", lifetime)
	}
	authority := template(commonName, now, lifetime)
	authority.IsCA = true
	authority.BasicConstraintsValid = true
	authority.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature

	ca, caKey, err := sign(authority, nil, nil)
	if err != nil {
		return Issued{}, fmt.Errorf("cannot issue certificate authority %q: %w", commonName, err)
	}
	leaf := template(hosts[0], now, lifetime)
	leaf.KeyUsage = x509.KeyUsageDigitalSignature
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	leaf.DNSNames, leaf.IPAddresses = split(hosts)

	serving, _, err := sign(leaf, authority, caKey)
	if err != nil {
		return Issued{}, fmt.Errorf("cannot issue a leaf for %q: %w", hosts[0], err)
	}
	return Issued{CA: ca, Leaf: serving}, nil
}

func template(commonName string, now time.Time, lifetime time.Duration) *x509.Certificate {
	return &x509.Certificate{
		Subject:   pkix.Name{CommonName: commonName},
		NotBefore: now.Add(-backdate),
		NotAfter:  now.Add(lifetime),
	}
}

// sign makes a key and a certificate for it, signed by parent, or by itself
// when parent is nil.
func sign(cert, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) (Pair, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, nil, fmt.Errorf("cannot make a key: %w", err)
	}
	// 127 random bits: unique without a register of what was issued.
	cert.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return Pair{}, nil, fmt.Errorf("cannot make a serial number: %w", err)
	}
	if parent == nil {
		parent, parentKey = cert, key
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, parent, &key.PublicKey, parentKey)
	if err != nil {
		return Pair{}, nil, fmt.Errorf("cannot sign: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, nil, fmt.Errorf("cannot encode the key: %w", err)
	}
	return Pair{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
	}, key, nil
}

// split tells DNS names from IP addresses.
func split(hosts []string) ([]string, []net.IP) {
	var names []string
	var addresses []net.IP
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			addresses = append(addresses, ip)
			continue
		}
		names = append(names, host)
	}
	return names, addresses
}
