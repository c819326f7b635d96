package certs

import (
	"crypto/x509"
	"sync"
	"time"
)

// A readiness is what a readiness check says.
type readiness struct {
	mu         sync.Mutex
	notTrusted error
	// trusts is the authority that was trusted once.
	trusts *x509.Certificate
}

func (r *readiness) check() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.notTrusted
}

// judge notes whether the API server trusts what is served.
func (r *readiness) judge(s serving, w snapshot, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := s.ca != nil && r.trusts != nil && r.trusts.Equal(s.ca)
	r.notTrusted = s.trusted(w, before, now)
	if r.notTrusted == nil {
		r.trusts = s.ca
	}
}

// waiting has the check say what stands in the way, where nothing is served yet. It
// returns err.
func (r *readiness) waiting(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trusts == nil && r.notTrusted != nil {
		r.notTrusted = err
	}
	return err
}
