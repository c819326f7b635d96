package certs

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"time"
)

// untilHeader says, on a certificate that is leaving, until when it stays trusted.
const untilHeader = "Trusted-Until"

// certificates reads a bundle as an API server does. It is clean if it is nothing but
// certificates.
func certificates(bundle []byte) (found []*x509.Certificate, clean bool) {
	clean = true
	for {
		var block *pem.Block
		block, bundle = pem.Decode(bundle)
		if block == nil {
			return found, clean && len(bytes.TrimSpace(bundle)) == 0
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil || block.Type != certificateBlock || len(block.Headers) > 0 {
			clean = false
			continue
		}
		found = append(found, cert)
	}
}

// encode writes a bundle, each certificate once.
func encode(all []*x509.Certificate) []byte {
	var bundle []byte
	for i, cert := range all {
		if !holds(all[:i], cert) {
			bundle = append(bundle, pem.EncodeToMemory(&pem.Block{Type: certificateBlock, Bytes: cert.Raw})...)
		}
	}
	return bundle
}

func holds(all []*x509.Certificate, cert *x509.Certificate) bool {
	return slices.ContainsFunc(all, cert.Equal)
}

// A leaving certificate is trusted until then, and remembered for as long again: a
// replica that sees an older state of a configuration must not take it for news.
type leaving struct {
	cert  *x509.Certificate
	until time.Time
}

// decodeLeaving reads what encodeLeaving wrote; what it cannot read it leaves out.
func decodeLeaving(content []byte) []leaving {
	var all []leaving
	for {
		var block *pem.Block
		block, content = pem.Decode(content)
		if block == nil {
			return all
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		until, noTime := time.Parse(time.RFC3339Nano, block.Headers[untilHeader])
		if err == nil && noTime == nil {
			all = append(all, leaving{cert: cert, until: until})
		}
	}
}

func encodeLeaving(all []leaving) []byte {
	var content []byte
	for _, one := range all {
		content = append(content, pem.EncodeToMemory(&pem.Block{
			Type: certificateBlock, Bytes: one.cert.Raw,
			Headers: map[string]string{untilHeader: one.until.UTC().Format(time.RFC3339Nano)},
		})...)
	}
	return content
}

// A trust is what each entry of the configurations is to carry.
type trust struct {
	// must is put back wherever it is missing, may is left where it is: replicas whose
	// clocks differ a little do not undo each other's writes.
	must, may []*x509.Certificate
}

// amend is the bundle that an entry is to carry in place of the one that it does, or
// nothing if that one may stay.
func (t trust) amend(bundle []byte) []byte {
	carried, clean := certificates(bundle)
	for _, cert := range t.must {
		clean = clean && holds(carried, cert)
	}
	for _, cert := range carried {
		clean = clean && (holds(t.must, cert) || holds(t.may, cert))
	}
	if clean {
		return nil
	}
	return encode(slices.Concat(t.must, t.may))
}

// carriedByAll says that every bundle holds the certificate. It is true if there is no
// bundle.
func carriedByAll(bundles [][]byte, cert *x509.Certificate) bool {
	for _, bundle := range bundles {
		if carried, _ := certificates(bundle); !holds(carried, cert) {
			return false
		}
	}
	return true
}
