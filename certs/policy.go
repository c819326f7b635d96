package certs

import (
	"errors"
	"fmt"
	"time"
)

// A Policy says what certificates are made and when they change.
type Policy struct {
	// Hosts are the DNS names and IP addresses of the leaf; at least one.
	Hosts []string
	// CALifetime and LeafLifetime are how long an authority and a leaf are valid.
	// Either is replaced when a third of that is left.
	CALifetime, LeafLifetime time.Duration
	// Settle is how long both hook configurations have carried a new authority before
	// a leaf of it is served: every API server must have learned of it.
	Settle time.Duration
	// Overlap is how long what a new authority replaced, or what another writer put
	// into a configuration, stays trusted beside it. It is at least twice Settle.
	Overlap time.Duration
}

// DefaultPolicy is for hosts: an authority for ten years, leaves for one, a minute to
// settle and a day of overlap.
func DefaultPolicy(hosts ...string) Policy {
	const day = 24 * time.Hour
	return Policy{Hosts: hosts, CALifetime: 3650 * day, LeafLifetime: 365 * day, Settle: time.Minute, Overlap: day}
}

// Validate says what is wrong with the policy.
func (p Policy) Validate() error {
	var errs []error
	if len(p.Hosts) == 0 {
		errs = append(errs, errors.New("the certificate has no host; name at least one DNS name or IP address"))
	}
	if p.LeafLifetime <= 0 || p.CALifetime < p.LeafLifetime {
		errs = append(errs, fmt.Errorf("the leaf lives %s and its authority %s; the leaf's must be positive, and no longer than the authority's", p.LeafLifetime, p.CALifetime))
	}
	if p.Settle < 0 || p.Overlap < 2*p.Settle {
		errs = append(errs, fmt.Errorf("the overlap is %s and the time to settle %s; the overlap must be at least twice as long", p.Overlap, p.Settle))
	}
	return errors.Join(errs...)
}

// lifeLeft is the divisor of a certificate's lifetime: it is replaced when that part is
// left.
const lifeLeft = 3
