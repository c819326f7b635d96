package certs

import (
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// A serving is a leaf, and the authority that signed it. The zero value is none.
type serving struct {
	leaf, ca *x509.Certificate
}

// servingOf is none if the pair cannot be served, or another authority signed it.
func servingOf(leaf Pair, ca []byte) serving {
	s := serving{leaf: first(leaf.Cert), ca: first(ca)}
	if _, ok := fits(leaf); !ok || s.leaf == nil || s.ca == nil || s.leaf.CheckSignatureFrom(s.ca) != nil {
		return serving{}
	}
	return s
}

// offeredBy is what a Secret has to be served, or none.
func offeredBy(secret *corev1.Secret) serving {
	return servingOf(Pair{Cert: secret.Data[CertFile], Key: secret.Data[KeyFile]}, secret.Data[CAFile])
}

// takes says whether a replica that serves s goes over to the offered leaf now, seeing
// that every bundle has carried the offered one's authority since then (never, if that is
// zero). A leaf that is trusted is given up only for one that is trusted as well, and has
// been for long enough that every API server knows.
func (s serving) takes(offered serving, bundles [][]byte, since, now time.Time, settle time.Duration) bool {
	switch {
	case s.leaf == nil || expired(s.leaf, now):
		return true
	case s.leaf.Equal(offered.leaf) || since.IsZero():
		return false
	case s.ca.Equal(offered.ca) || !carriedByAll(bundles, s.ca):
		return true
	}
	return !now.Before(since.Add(settle))
}

var errNoLeaf = errors.New("there is no certificate to serve yet")

// trusted says why the API server does not trust what is served: it has expired, a
// configuration is missing, or an entry carries something else. Once it has trusted it, only
// an entry that carries other authorities counts: the keeper fills a bundle that was emptied,
// and no other replica would do better until then.
func (s serving) trusted(w snapshot, before bool, now time.Time) error {
	if s.leaf == nil {
		return errNoLeaf
	}
	if expired(s.leaf, now) {
		return fmt.Errorf("the certificate that is served expired at %s", s.leaf.NotAfter.Format(time.RFC3339))
	}
	if !before && len(w.missing) > 0 {
		return fmt.Errorf("%s is not there", strings.Join(w.missing, " and "))
	}
	also, _ := certificates(w.seen.also)
	for _, e := range w.entries() {
		carried, _ := certificates(e.bundle)
		if before && (len(carried) == 0 || holds(carried, s.ca)) {
			continue
		}
		if !holds(carried, s.ca) {
			return fmt.Errorf("webhook %q of %s does not carry the authority of the certificate that is served", e.name, e.of)
		}
		for _, cert := range also {
			if !holds(carried, cert) {
				return fmt.Errorf("webhook %q of %s does not carry the authority that is to be trusted, too", e.name, e.of)
			}
		}
	}
	return nil
}
