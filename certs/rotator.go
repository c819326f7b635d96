package certs

import (
	"context"
	"fmt"
	"net/http"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
)

// Options are what a Rotator works with; but for AlsoTrust, all are required.
type Options struct {
	Client kubernetes.Interface
	// Namespace is that of both Secrets, which must be there, and may be empty: CASecret
	// holds the authority and its key, Secret what is served.
	Namespace, CASecret, Secret string
	// Configurations is the name of both hook configurations.
	Configurations string
	// AlsoTrust is a Secret of the same namespace whose CAFile both configurations are
	// to carry, too: that of who is to keep the certificates next. Empty means none.
	AlsoTrust string
	Policy    Policy

	Recorder   events.EventRecorder
	Registerer prometheus.Registerer
	Log        logr.Logger
	Clock      clock.Clock
}

// A Rotator keeps both Secrets and the hook configurations. It needs no election: each
// write is made against the version that was read, so that of two that are the same one
// fails.
type Rotator struct {
	options  Options
	observer *observer
	counts   counts
	// published is the last pair that the Secret was seen to hold; only the one
	// goroutine that calls round touches it.
	published serving
	readiness readiness
}

// New makes a Rotator and registers its metrics. It fails if the policy is not valid.
func New(o Options) (*Rotator, error) {
	if err := o.Policy.Validate(); err != nil {
		return nil, fmt.Errorf("cannot keep certificates: %w", err)
	}
	return &Rotator{
		options: o, counts: newCounts(o.Registerer), readiness: readiness{notTrusted: errNotLooked},
		observer: &observer{
			client: o.Client, namespace: o.Namespace, configurations: o.Configurations,
			secrets: []string{o.CASecret, o.Secret, o.AlsoTrust}, log: o.Log, clock: o.Clock, failure: "certificates are not kept", patience: syncPatience,
		},
	}, nil
}

// NeedLeaderElection says that every replica of the keeper keeps certificates.
func (*Rotator) NeedLeaderElection() bool { return false }

// Check fails until both hook configurations carry, in every webhook, the authority of
// the certificate that is to be served, and that which is to be trusted, too.
func (r *Rotator) Check(*http.Request) error { return r.readiness.check() }

// Start keeps the certificates until ctx ends.
func (r *Rotator) Start(ctx context.Context) error { return r.observer.run(ctx, r.round) }
