package certs

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
)

// FollowerOptions are what a Follower works with; all are required.
type FollowerOptions struct {
	Client kubernetes.Interface
	// Namespace and Secret say where a Rotator puts what is to be served. It need not be
	// there yet.
	Namespace, Secret string
	// Configurations is the name of both hook configurations.
	Configurations string
	// Dir is the serving directory.
	Dir string
	// Settle is how long both configurations have carried a new authority before a leaf
	// of it is served in place of one that is trusted.
	Settle time.Duration
	// Served is called when there is a certificate in Dir; more than once.
	Served func()

	Log   logr.Logger
	Clock clock.Clock
}

// A Follower has one process serve what a Rotator, most likely of another process, put
// into the Secret. It only reads: while there is no Rotator, it goes on with what it has.
type Follower struct {
	options  FollowerOptions
	observer *observer
	// served, and since when every bundle has carried the authority offered; only the
	// one goroutine that calls round touches them.
	served    serving
	offered   *x509.Certificate
	since     time.Time
	readiness readiness
}

// NewFollower makes a Follower. A container that was started again goes on with what it
// served.
func NewFollower(o FollowerOptions) *Follower {
	f := &Follower{
		options: o, readiness: readiness{notTrusted: errNotLooked},
		observer: &observer{
			client: o.Client, namespace: o.Namespace, configurations: o.Configurations, secrets: []string{o.Secret},
			log: o.Log, clock: o.Clock, failure: "certificates are not followed", patience: syncPatience,
		},
	}
	if s := servingOf(readServing(o.Dir)); s.leaf != nil && !expired(s.leaf, o.Clock.Now()) {
		f.served = s
		o.Served()
	}
	return f
}

// NeedLeaderElection says that every replica serves.
func (*Follower) NeedLeaderElection() bool { return false }

// Check is a readiness check: it fails until both hook configurations carry, in every
// webhook, the authority of the certificate that this process serves.
func (f *Follower) Check(*http.Request) error { return f.readiness.check() }

// Start follows the Secret until ctx ends.
func (f *Follower) Start(ctx context.Context) error { return f.observer.run(ctx, f.round) }

// round serves what the Secret holds, once it may be.
func (f *Follower) round(ctx context.Context, from source) (time.Duration, error) {
	o := f.options
	now := o.Clock.Now()
	var w snapshot
	if err := w.configure(ctx, from, o.Configurations); err != nil {
		return 0, f.readiness.waiting(err)
	}
	secret, err := secretOf(ctx, from, o.Namespace, o.Secret)
	if err != nil {
		// What is served already is judged all the same.
		f.readiness.judge(f.served, w, now)
		return 0, f.readiness.waiting(err)
	}
	w.secret, w.seen.data = secret, secret.Data
	settled, err := f.serve(w, now)
	f.readiness.judge(f.served, w, now)
	return max(settled.Sub(now), 0), err
}

// serve lays out the Secret's leaf, once it may be. If it may be later, unless something
// changes, it says when. A Secret that holds none that can be served changes nothing.
func (f *Follower) serve(w snapshot, now time.Time) (later time.Time, err error) {
	never := now.Add(longestPause)
	leaf := Pair{Cert: w.seen.data[CertFile], Key: w.seen.data[KeyFile]}
	offered := servingOf(leaf, w.seen.data[CAFile])
	if offered.leaf == nil || offered.leaf.Equal(f.served.leaf) {
		return never, nil
	}
	if expired(offered.leaf, now) && f.served.leaf != nil && !expired(f.served.leaf, now) {
		return never, nil // a Secret was put back from long ago
	}
	f.settle(offered, w.seen.bundles, now)
	if !f.served.takes(offered, w.seen.bundles, f.since, now, f.options.Settle) {
		if f.since.IsZero() {
			return never, nil
		}
		return earliest(never, f.since.Add(f.options.Settle)), nil
	}
	if err := WriteServing(f.options.Dir, leaf, w.seen.data[CAFile]); err != nil {
		return never, err
	}
	f.served = offered
	f.options.Served()
	f.options.Log.Info("serving a certificate", "serialNumber", offered.leaf.SerialNumber.Text(16),
		"authority", offered.ca.Subject.CommonName, "notAfter", offered.leaf.NotAfter.Format(time.RFC3339))
	return never, nil
}

// settle notes since when every bundle has carried the authority that is offered.
func (f *Follower) settle(offered serving, bundles [][]byte, now time.Time) {
	if f.offered == nil || !f.offered.Equal(offered.ca) {
		f.offered, f.since = offered.ca, time.Time{}
	}
	switch {
	case !carriedByAll(bundles, offered.ca):
		f.since = time.Time{}
	case f.since.IsZero() || now.Before(f.since):
		f.since = now
	}
}

var errNotLooked = errors.New("the certificates have not been looked at")
