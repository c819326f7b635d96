package certs

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"slices"
	"time"
)

// What a deed is done to, as metrics and log lines call it.
const (
	theCA     = "ca"
	theLeaf   = "leaf"
	theOthers = "others"
)

// seen is what the cluster holds.
type seen struct {
	// data is the Secret's.
	data map[string][]byte
	// bundles are the caBundles of every entry of both configurations.
	bundles [][]byte
	// also is a bundle that is to be trusted, too: another keeper's of certificates.
	also []byte
}

// A plan is what to do about what was seen.
type plan struct {
	// data is what to write into the Secret, by key; nothing is to be written if it is
	// empty. As long as there is something, the configurations wait: what they are to
	// carry must be remembered first.
	data  map[string][]byte
	deeds []deed
	trust trust
	// again is when time alone asks for something to be done.
	again time.Time
}

// A deed is what is done by writing the Secret, and why.
type deed struct{ to, why string }

// next decides. It is pure but for the keys and serial numbers, which are random.
func next(s seen, now time.Time, p Policy) (plan, error) {
	have := readState(s.data)
	do := plan{data: map[string][]byte{}}
	if why := have.caWrong(now); why != "" {
		if err := do.renewCA(&have, why, now, p); err != nil {
			return plan{}, err
		}
	}
	if why := have.leafWrong(p.Hosts, now); why != "" {
		if err := do.renewLeaf(&have, why, now, p); err != nil {
			return plan{}, err
		}
	}
	also, _ := certificates(s.also)
	also = slices.DeleteFunc(also, func(c *x509.Certificate) bool { return expired(c, now) })
	do.trust.must = append([]*x509.Certificate{have.ca.cert}, also...)
	do.again = earliest(dueOf(have.ca.cert), dueOf(have.leaf))
	do.retireCA(have.leaving, s, now, p.Overlap)
	return do, nil
}

// renewCA makes an authority; the one before it begins to leave.
func (do *plan) renewCA(have *state, why string, now time.Time, p Policy) error {
	// Each has a name of its own: who verifies need not try two keys.
	pair, by, err := issueCA(fmt.Sprintf("defaultplan-webhook@%d", now.UnixNano()), now, p.CALifetime)
	if err != nil {
		return err
	}
	if have.ca.cert != nil {
		have.leaving = append(have.leaving, leaving{cert: have.ca.cert, until: now.Add(p.Overlap)})
	}
	have.ca = by
	do.data[CAFile], do.data[caKeyFile] = pair.Cert, pair.Key
	do.deeds = append(do.deeds, deed{to: theCA, why: why})
	return nil
}

func (do *plan) renewLeaf(have *state, why string, now time.Time, p Policy) error {
	hosts := p.Hosts
	if have.leaf != nil && ageWrong(have.leaf, now) == "" {
		hosts = have.hostsWith(hosts)
	}
	pair, err := have.ca.issueLeaf(hosts, now, p.LeafLifetime)
	if err != nil {
		return err
	}
	have.leaf, have.leafKey = first(pair.Cert), true
	do.data[CertFile], do.data[KeyFile] = pair.Cert, pair.Key
	do.deeds = append(do.deeds, deed{to: theLeaf, why: why})
	return nil
}

// retireCA maintains the list of certificates that are leaving: it adds what another writer
// put into a bundle, and drops what no bundle carries any more.
func (do *plan) retireCA(was []leaving, s seen, now time.Time, overlap time.Duration) {
	carried := carriedByAny(s.bundles)
	replaced := carriedByAll(s.bundles, do.trust.must[0])
	var list []leaving
	for _, one := range was {
		// A clock that was wrong may have set any time. And as long as what replaces it
		// could not be put everywhere, or its leaf could not be replaced, nothing is let go.
		inUse := !replaced || signed(one.cert, first(s.data[CertFile]), now)
		if one.until.After(now.Add(overlap)) || (inUse && !now.Before(one.until) && holds(carried, one.cert)) {
			one.until = now.Add(overlap)
		}
		gone := !now.Before(one.until.Add(overlap)) && !holds(carried, one.cert)
		if !gone && !expired(one.cert, now) && !holds(do.trust.must, one.cert) {
			list = append(list, one)
		}
	}
	others := 0
	for _, cert := range carried {
		known := slices.ContainsFunc(list, func(l leaving) bool { return l.cert.Equal(cert) })
		if !known && !expired(cert, now) && !holds(do.trust.must, cert) {
			list = append(list, leaving{cert: cert, until: now.Add(overlap)})
			others++
		}
	}
	if others > 0 {
		do.deeds = append(do.deeds, deed{to: theOthers, why: fmt.Sprintf("%d that the hook configurations carry stay trusted for %s", others, overlap)})
	}
	if content := encodeLeaving(list); !bytes.Equal(content, s.data[leavingFile]) {
		do.data[leavingFile] = content
	}
	for _, one := range list {
		do.stillTrust(one, now, overlap)
	}
}

// signed says that an authority signed a leaf that can be served now.
func signed(by, leaf *x509.Certificate, now time.Time) bool {
	return leaf != nil && !expired(leaf, now) && leaf.CheckSignatureFrom(by) == nil
}

func (do *plan) stillTrust(one leaving, now time.Time, overlap time.Duration) {
	if !now.Before(one.until) {
		do.again = earliest(do.again, one.until.Add(overlap))
		return
	}
	do.again = earliest(do.again, one.until)
	// By then no replica needs it, not even one whose clock is a little behind: leave the
	// entry as it is.
	if one.until.Sub(now) > overlap/2 {
		do.trust.must = append(do.trust.must, one.cert)
		return
	}
	do.trust.may = append(do.trust.may, one.cert)
}

func carriedByAny(bundles [][]byte) []*x509.Certificate {
	var all []*x509.Certificate
	for _, bundle := range bundles {
		found, _ := certificates(bundle)
		for _, cert := range found {
			if !holds(all, cert) {
				all = append(all, cert)
			}
		}
	}
	return all
}

func expired(cert *x509.Certificate, now time.Time) bool { return !now.Before(cert.NotAfter) }

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
