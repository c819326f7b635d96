package certs

import (
	"bytes"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"slices"
	"time"
)

// What the authority's Secret holds beside CAFile: its key, and the certificates that are
// leaving. Older versions held all in one Secret, and these two are taken out of it.
const (
	caKeyFile   = "ca.key"
	leavingFile = "leaving.crt"
)

// joined is what both Secrets hold, by key. A key of the authority counts in its own
// Secret only: where it was in the other one, more could read it than may sign. The
// authority that it was of is known still, so that it leaves with the usual overlap.
func joined(authority, served map[string][]byte) map[string][]byte {
	all := map[string][]byte{}
	for _, name := range []string{CertFile, KeyFile} {
		if content := served[name]; len(content) > 0 {
			all[name] = content
		}
	}
	for _, name := range []string{CAFile, caKeyFile, leavingFile} {
		if content := authority[name]; len(content) > 0 {
			all[name] = content
		}
	}
	if all[CAFile] != nil {
		return all
	}
	for _, name := range []string{CAFile, leavingFile} {
		if content := served[name]; len(content) > 0 && all[name] == nil {
			all[name] = content
		}
	}
	return all
}

// split is what to write into each Secret so that together they hold data, which is
// planned, beside what they have.
func (w *snapshot) split(planned map[string][]byte) (authority, served map[string][]byte) {
	authority, served = map[string][]byte{}, map[string][]byte{}
	for _, name := range []string{CAFile, caKeyFile, leavingFile} {
		if content, ok := planned[name]; ok {
			authority[name] = content
		}
	}
	for _, name := range []string{CertFile, KeyFile} {
		if content, ok := planned[name]; ok {
			served[name] = content
		}
	}
	if !bytes.Equal(w.secret.Data[CAFile], w.seen.data[CAFile]) {
		served[CAFile] = w.seen.data[CAFile]
	}
	for _, name := range []string{caKeyFile, leavingFile} {
		if _, ok := w.secret.Data[name]; ok {
			served[name] = nil
		}
	}
	return authority, served
}

// A state is what could be read of the Secrets. What could not is absent.
type state struct {
	empty bool
	// ca.cert may be there without ca.key.
	ca      authority
	leaf    *x509.Certificate
	leafKey bool
	leaving []leaving
}

func readState(data map[string][]byte) state {
	s := state{leaving: decodeLeaving(data[leavingFile])}
	for _, name := range []string{CAFile, caKeyFile, CertFile, KeyFile} {
		s.empty = s.empty || len(data[name]) > 0
	}
	s.empty = !s.empty
	s.ca.cert = first(data[CAFile])
	if key, ok := fits(Pair{Cert: data[CAFile], Key: data[caKeyFile]}); ok {
		s.ca.key = key
	}
	s.leaf = first(data[CertFile])
	_, s.leafKey = fits(Pair{Cert: data[CertFile], Key: data[KeyFile]})
	return s
}

// first is the first certificate of a file: those that follow are intermediates.
func first(content []byte) *x509.Certificate {
	if found, _ := certificates(content); len(found) > 0 {
		return found[0]
	}
	return nil
}

// fits is the key of a pair, if it is that of the certificate.
func fits(pair Pair) (crypto.Signer, bool) {
	loaded, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		return nil, false
	}
	key, ok := loaded.PrivateKey.(crypto.Signer)
	return key, ok
}

// caWrong says why a new authority is needed; nothing if none is.
func (s state) caWrong(now time.Time) string {
	switch {
	case s.empty:
		return "the Secret is empty"
	case s.ca.cert == nil:
		return "its certificate is missing or cannot be read"
	case !s.ca.cert.IsCA:
		return "its certificate is none of an authority"
	case s.ca.key == nil:
		return "its key is missing or is another's"
	}
	return ageWrong(s.ca.cert, now)
}

// leafWrong says why a new leaf for the hosts is needed; nothing if none is.
func (s state) leafWrong(hosts []string, now time.Time) string {
	switch {
	case s.leaf == nil:
		return "its certificate is missing or cannot be read"
	case !s.leafKey:
		return "its key is missing or is another's"
	case s.leaf.CheckSignatureFrom(s.ca.cert) != nil:
		return "another authority signed it"
	}
	for _, host := range hosts {
		if s.leaf.VerifyHostname(host) != nil {
			return fmt.Sprintf("it is not for %q", host)
		}
	}
	return ageWrong(s.leaf, now)
}

func ageWrong(cert *x509.Certificate, now time.Time) string {
	switch {
	case now.Before(cert.NotBefore):
		return "it is not valid yet: a clock was wrong"
	case !now.Before(cert.NotAfter):
		return "it expired at " + cert.NotAfter.Format(time.RFC3339)
	case !now.Before(dueOf(cert)):
		return "its time has come"
	}
	return ""
}

// dueOf returns when a certificate is to be replaced.
func dueOf(cert *x509.Certificate) time.Time {
	life := cert.NotAfter.Sub(cert.NotBefore.Add(backdate))
	return cert.NotAfter.Add(-life / lifeLeft)
}

// hostsWith are those that are asked for, and those that the leaf is for already:
// replicas of two releases may ask for different ones, and would take turns.
func (s state) hostsWith(hosts []string) []string {
	all := slices.Clone(hosts)
	if s.leaf == nil {
		return all
	}
	had := slices.Clone(s.leaf.DNSNames)
	for _, address := range s.leaf.IPAddresses {
		had = append(had, address.String())
	}
	for _, host := range had {
		if !slices.Contains(all, host) {
			all = append(all, host)
		}
	}
	return all
}
