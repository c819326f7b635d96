package certs

import (
	"crypto"
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

// certificateBlock is the type of the PEM blocks that hold certificates.
const certificateBlock = "CERTIFICATE"

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
	ca, by, err := issueCA(commonName, now, lifetime)
	if err != nil {
		return Issued{}, err
	}
	leaf, err := by.issueLeaf(hosts, now, lifetime)
	if err != nil {
		return Issued{}, err
	}
	return Issued{CA: ca, Leaf: leaf}, nil
}

// An authority signs leaves.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// issueCA makes an authority that signs itself.
func issueCA(commonName string, now time.Time, lifetime time.Duration) (Pair, authority, error) {
	ca := template(now, now.Add(lifetime))
	ca.Subject = pkix.Name{CommonName: commonName}
	ca.IsCA = true
	ca.BasicConstraintsValid = true
	ca.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	pair, by, err := sign(ca, authority{})
	if err != nil {
		return Pair{}, authority{}, fmt.Errorf("cannot issue certificate authority %q: %w", commonName, err)
	}
	return pair, by, nil
}

// issueLeaf makes a serving leaf, which does not outlive the authority.
func (a authority) issueLeaf(hosts []string, now time.Time, lifetime time.Duration) (Pair, error) {
	end := now.Add(lifetime)
	if end.After(a.cert.NotAfter) {
		end = a.cert.NotAfter
	}
	leaf := template(now, end)
	// No common name: it has room for 64 bytes, and clients do not verify it.
	leaf.Subject = pkix.Name{Organization: []string{"defaultplan"}}
	leaf.KeyUsage = x509.KeyUsageDigitalSignature
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	leaf.DNSNames, leaf.IPAddresses = split(hosts)
	pair, _, err := sign(leaf, a)
	if err != nil {
		return Pair{}, fmt.Errorf("cannot issue a leaf for %q: %w", hosts[0], err)
	}
	return pair, nil
}

func template(now, end time.Time) *x509.Certificate {
	return &x509.Certificate{NotBefore: now.Add(-backdate), NotAfter: end}
}

// sign makes a key and a certificate for it, signed by the authority, or by itself
// when that is empty.
func sign(cert *x509.Certificate, by authority) (Pair, authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, authority{}, fmt.Errorf("cannot make a key: %w", err)
	}
	// 127 random bits: unique without a register of what was issued.
	cert.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return Pair{}, authority{}, fmt.Errorf("cannot make a serial number: %w", err)
	}
	if by.cert == nil {
		by = authority{cert: cert, key: key}
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, by.cert, &key.PublicKey, by.key)
	if err != nil {
		return Pair{}, authority{}, fmt.Errorf("cannot sign: %w", err)
	}
	signed, err := x509.ParseCertificate(der)
	if err != nil {
		return Pair{}, authority{}, fmt.Errorf("cannot read what was signed: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, authority{}, fmt.Errorf("cannot encode the key: %w", err)
	}
	return Pair{
		Cert: pem.EncodeToMemory(&pem.Block{Type: certificateBlock, Bytes: der}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
	}, authority{cert: signed, key: key}, nil
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
