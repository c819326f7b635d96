package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/defaultplan/defaultplan/e2e/controlplane/folder"
)

// A store is the folder of the pairs, at one moment.
type store struct {
	dir string
	now time.Time
}

// A pair is a certificate and its key.
type pair struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// ensurePair keeps name's pair if it is good, else issues a new one as want says. Without a CA it signs itself.
func (s store) ensurePair(name string, want *x509.Certificate, ca *pair) (pair, error) {
	kept, found, err := s.load(name)
	if err != nil {
		return pair{}, err
	}
	if found && s.good(kept.cert, ca) {
		return kept, nil
	}
	key, err := s.newKey(name + ".key")
	if err != nil {
		return pair{}, err
	}
	return s.issue(name+".crt", want, key, ca)
}

// load finds nothing if either file is missing: what an interrupted start left
// is created again. A file that exists and cannot be read is not ours, and is
// not overwritten.
func (s store) load(name string) (pair, bool, error) {
	loaded, err := tls.LoadX509KeyPair(filepath.Join(s.dir, name+".crt"), filepath.Join(s.dir, name+".key"))
	if errors.Is(err, fs.ErrNotExist) {
		return pair{}, false, nil
	}
	if err != nil {
		return pair{}, false, fmt.Errorf("cannot read certificate %q: %w: remove the folder %q to have new ones made", name+".crt", err, s.dir)
	}
	signer, isSigner := loaded.PrivateKey.(crypto.Signer)
	if !isSigner {
		return pair{}, false, fmt.Errorf("cannot use certificate %q: its key cannot sign: remove the folder %q to have new ones made", name+".crt", s.dir)
	}
	return pair{cert: loaded.Leaf, key: signer}, true, nil
}

// good says whether a kept certificate is in force, and signed by the CA if there is one.
func (s store) good(kept *x509.Certificate, ca *pair) bool {
	if s.now.Before(kept.NotBefore) || s.now.Add(margin).After(kept.NotAfter) {
		return false
	}
	return ca == nil || kept.CheckSignatureFrom(ca.cert) == nil
}

// issue signs want for key, by the CA or by itself, and writes it.
func (s store) issue(file string, want *x509.Certificate, key crypto.Signer, ca *pair) (pair, error) {
	want.NotBefore, want.NotAfter = s.now.Add(-skew), s.now.Add(lifetime)
	parent := pair{cert: want, key: key}
	if ca != nil {
		parent = *ca
	}
	der, err := x509.CreateCertificate(rand.Reader, want, parent.cert, key.Public(), parent.key)
	if err != nil {
		return pair{}, fmt.Errorf("cannot issue certificate %q: %w", file, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return pair{}, fmt.Errorf("cannot read back certificate %q: %w", file, err)
	}
	return pair{cert: cert, key: key}, s.write(file, "CERTIFICATE", der)
}

// ensureKey keeps the key in file, or makes one.
func (s store) ensureKey(file string) error {
	content, err := os.ReadFile(filepath.Join(s.dir, file))
	if errors.Is(err, fs.ErrNotExist) {
		_, err = s.newKey(file)
		return err
	}
	if err != nil {
		return fmt.Errorf("cannot read key %q: %w", file, err)
	}
	if block, _ := pem.Decode(content); block == nil {
		return fmt.Errorf("cannot read key %q: not PEM: remove the file to have a new one made", file)
	}
	return nil
}

// newKey makes an ECDSA P-256 key (an RSA one takes long on a busy machine) and writes it.
func (s store) newKey(file string) (crypto.Signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("cannot make key %q: %w", file, err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("cannot encode key %q: %w", file, err)
	}
	return key, s.write(file, "EC PRIVATE KEY", der)
}

func (s store) write(file, kind string, der []byte) error {
	return folder.WriteFile(filepath.Join(s.dir, file), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}
