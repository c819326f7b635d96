package keeper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// What Options leaves open is this.
const (
	// DefaultLeaseName is the Lease that replicas elect the keeper by.
	DefaultLeaseName = "defaultplan-keeper"
	// DefaultTouchesPerSecond and DefaultBurst bound what the keeper asks of the
	// API server.
	DefaultTouchesPerSecond = 20
	DefaultBurst            = 50
	// DefaultLeaseDuration is how long a keeper that vanished is waited for.
	DefaultLeaseDuration = 15 * time.Second
	// DefaultRenewDeadline is how long a keeper tries to renew before it stops.
	DefaultRenewDeadline = 10 * time.Second
	// DefaultRetryPeriod is the time between tries to get or renew the Lease.
	DefaultRetryPeriod = 2 * time.Second
)

// An InformerSource gives the shared informers of the cache that Client reads.
type InformerSource interface {
	GetInformer(ctx context.Context, object client.Object, options ...cache.InformerGetOption) (cache.Informer, error)
}

// Options are what a Keeper works with.
type Options struct {
	// Client reads the cache, with the indexes of AddIndexes and of the catalog
	// (types of classes and plans, class refs of plans), and writes at the API
	// server, as the client of a manager does. Required.
	Client client.Client
	// Live reads from the API server. Required.
	Live client.Reader
	// Informers are those of the cache. Required.
	Informers InformerSource
	// Leases reaches the Lease. Its requests should time out well within
	// RenewDeadline, so that one that hangs does not cost the Lease. Required.
	Leases coordinationclient.LeasesGetter
	// Recorder takes the events about instances, bindings and plans. Required.
	Recorder events.EventRecorder

	// LeaseNamespace holds the Lease: the keeper's own namespace. Required.
	LeaseNamespace string
	// LeaseName defaults to DefaultLeaseName.
	LeaseName string
	// Identity is who this process is in the election, unlike every other. It
	// defaults to the host name and a random UUID.
	Identity string
	// LeaseDuration is more than RenewDeadline, and that more than 1.2 times
	// RetryPeriod. They default to 15, 10 and 2 seconds.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration

	// TouchesPerSecond and Burst are the token bucket that all touches share.
	// They default to 20 and 50.
	TouchesPerSecond float64
	Burst            int

	// ServiceTypes has the keeper record the default of each type and keep the
	// types' objects, as the feature gate says. SuggestedPlans lets their status
	// count what brokers suggest.
	ServiceTypes, SuggestedPlans bool

	// Log defaults to none.
	Log logr.Logger
	// Clock times touches and retries; the election has its own. It defaults to
	// the real one.
	Clock clock.WithTicker
	// Registerer takes the metrics. It defaults to controller-runtime's registry.
	Registerer prometheus.Registerer
}

// validate says which required options are missing, and which are out of bounds.
func (o *Options) validate() error {
	var missing []string
	for _, required := range []struct {
		name  string
		given bool
	}{
		{"Client", o.Client != nil},
		{"Informers", o.Informers != nil},
		{"LeaseNamespace", o.LeaseNamespace != ""},
		{"Leases", o.Leases != nil},
		{"Live", o.Live != nil},
		{"Recorder", o.Recorder != nil},
	} {
		if !required.given {
			missing = append(missing, required.name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("options lack %s", strings.Join(missing, ", "))
	}
	if o.TouchesPerSecond < 0 || o.Burst < 0 {
		return errors.New("options TouchesPerSecond and Burst cannot be negative: give a positive number, or 0 for the default")
	}
	return nil
}

// complete fills in what was left open.
func (o *Options) complete() error {
	if o.Identity == "" {
		host, err := os.Hostname()
		if err != nil {
			return fmt.Errorf("cannot read the host name for the election: %w", err)
		}
		// The host alone is not enough: two processes may share one.
		o.Identity = host + "_" + uuid.NewString()
	}
	o.LeaseName = orDefault(o.LeaseName, DefaultLeaseName)
	o.LeaseDuration = orDefault(o.LeaseDuration, DefaultLeaseDuration)
	o.RenewDeadline = orDefault(o.RenewDeadline, DefaultRenewDeadline)
	o.RetryPeriod = orDefault(o.RetryPeriod, DefaultRetryPeriod)
	o.TouchesPerSecond = orDefault(o.TouchesPerSecond, DefaultTouchesPerSecond)
	o.Burst = orDefault(o.Burst, DefaultBurst)
	if o.Log.GetSink() == nil {
		o.Log = logr.Discard()
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Registerer == nil {
		o.Registerer = metrics.Registry
	}
	return nil
}

func orDefault[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}
