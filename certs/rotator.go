package certs

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
)

// Options are what a Rotator works with; but for AlsoTrust, all are required.
type Options struct {
	Client kubernetes.Interface
	// Namespace and Secret say where the certificates are kept. The Secret must be
	// there, and may be empty.
	Namespace, Secret string
	// Configurations is the name of both hook configurations.
	Configurations string
	// AlsoTrust is a Secret of the same namespace whose CAFile both configurations are
	// to carry, too: that of who is to keep the certificates next. Empty means none.
	AlsoTrust string
	// Dir is the serving directory.
	Dir    string
	Policy Policy

	Recorder   events.EventRecorder
	Registerer prometheus.Registerer
	Log        logr.Logger
	Clock      clock.Clock
}

// A Rotator keeps the certificates of one replica, and, together with those of the other
// replicas, the Secret and the hook configurations. None is elected: each write is made
// against the version that was read, so that of two that are the same one fails.
type Rotator struct {
	options Options
	live    source
	counts  counts

	informers sync.WaitGroup
	// served, and since when every bundle has carried the authority offered; only the
	// one goroutine that calls round touches them.
	served  serving
	offered *x509.Certificate
	since   time.Time

	// notTrusted is what Check says; trusts is the authority that was trusted once.
	mu         sync.Mutex
	notTrusted error
	trusts     *x509.Certificate
}

var errNotLooked = errors.New("the certificates have not been looked at")

// New makes a Rotator and registers its metrics. It fails if the policy is not valid.
func New(o Options) (*Rotator, error) {
	if err := o.Policy.Validate(); err != nil {
		return nil, fmt.Errorf("cannot keep certificates: %w", err)
	}
	r := &Rotator{
		options: o, counts: newCounts(o.Registerer), notTrusted: errNotLooked,
		live: live{client: o.Client, namespace: o.Namespace, configurations: o.Configurations},
	}
	// A container that was started again goes on with what it served.
	if s := servingOf(readServing(o.Dir)); s.leaf != nil && !expired(s.leaf, o.Clock.Now()) {
		r.served = s
	}
	return r, nil
}

// bootstrapPoll is how long Bootstrap waits between two looks.
const bootstrapPoll = 250 * time.Millisecond

// Bootstrap returns when there is a certificate in the serving directory; call it before
// anything serves from there. When ctx ends first, the error says what stood in the way.
func (r *Rotator) Bootstrap(ctx context.Context) error {
	last := errNotLooked
	for {
		_, err := r.round(ctx, r.live)
		if r.served.leaf != nil {
			return nil
		}
		if err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) {
			last = err
		}
		pause := bootstrapPoll
		if err == nil {
			pause = 0 // it was written, and is there to be read
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("cannot get a certificate to serve (%w): %w", context.Cause(ctx), last)
		case <-r.options.Clock.After(pause):
		}
	}
}

// NeedLeaderElection says that every replica keeps certificates.
func (*Rotator) NeedLeaderElection() bool { return false }

// Check is a readiness check: it fails until both hook configurations carry, in every
// webhook, the authority of the certificate that this process serves.
func (r *Rotator) Check(*http.Request) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.notTrusted
}

const (
	// retryFirst and retryMost bound how long a failed round waits for the next.
	retryFirst = 500 * time.Millisecond
	retryMost  = 30 * time.Second
	// conflictPause is about what a change takes to be seen.
	conflictPause = 100 * time.Millisecond
	// longestPause bounds how long a clock that jumps goes unnoticed.
	longestPause = time.Minute
)

// Start keeps the certificates until ctx ends.
func (r *Rotator) Start(ctx context.Context) error {
	defer r.informers.Wait()
	changes := make(chan struct{}, 1)
	from, err := r.follow(ctx, func() {
		select {
		case changes <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return ignoreEnd(ctx, err)
	}
	// Whoever fights over a bundle with us gets no more than this.
	pace := rate.NewLimiter(rate.Every(200*time.Millisecond), 10)
	retry := retryFirst
	for pace.Wait(ctx) == nil {
		pause, err := r.round(ctx, from)
		if ended(ctx) {
			break
		}
		if err != nil {
			pause, retry = r.failed(err, retry)
		}
		if err == nil {
			retry = retryFirst
		}
		timer := r.options.Clock.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-changes:
		case <-timer.C():
		}
		timer.Stop()
	}
	return nil
}

// failed tells of an error, and says how long to wait now, and after the next. Another
// replica that was faster is none: its write comes as a change.
func (r *Rotator) failed(err error, retry time.Duration) (now, next time.Duration) {
	if apierrors.IsConflict(err) {
		return conflictPause, retry
	}
	r.options.Log.Error(err, "certificates are not kept", "retryAfter", retry.String())
	return retry, min(2*retry, retryMost)
}

// ignoreEnd is err, unless it is that of a process that is told to end.
func ignoreEnd(ctx context.Context, err error) error {
	if ended(ctx) {
		return nil
	}
	return err
}

func ended(ctx context.Context) bool { return ctx.Err() != nil }
