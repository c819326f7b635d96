package keeper

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
)

// The defaults of Options.
const (
	// DefaultLeaseName is the Lease that replicas elect the keeper by.
	DefaultLeaseName = "defaultplan-keeper"
	// DefaultTouchesPerSecond and DefaultBurst limit the rate of touches.
	DefaultTouchesPerSecond = 20
	DefaultBurst            = 50
	// DefaultLeaseDuration is how long other replicas wait for a keeper that
	// vanished.
	DefaultLeaseDuration = 15 * time.Second
	// DefaultRenewDeadline is how long a keeper tries to renew before it stops.
	DefaultRenewDeadline = 10 * time.Second
	// DefaultRetryPeriod is the time between tries to get or renew the Lease.
	DefaultRetryPeriod = 2 * time.Second
)

// endTimeout is how long work may continue at shutdown: a touch takes no
// longer. The 30 s that a pod has to terminate leave time to release the Lease
// after it.
const endTimeout = controller.WriteTimeout + 3*time.Second

// Elect makes a manager with these options elect the keeper by the Lease. The
// caller that runs the manager releases the Lease after Start returned no
// error: then all work has stopped.
func Elect(options *manager.Options, lease resourcelock.Interface) {
	options.LeaderElection, options.LeaderElectionID = true, DefaultLeaseName
	options.LeaderElectionResourceLockInterface = lease
	options.LeaseDuration, options.RenewDeadline, options.RetryPeriod = new(DefaultLeaseDuration), new(DefaultRenewDeadline), new(DefaultRetryPeriod)
	options.GracefulShutdownTimeout = new(endTimeout)
}

// Options are the dependencies and settings of a Keeper.
type Options struct {
	// Lease is the Lease of the manager's election. Required.
	Lease *resourcelock.LeaseLock

	// Client reads the cache, with the indexes of AddIndexes and of the catalog
	// (types of classes and plans, class refs of plans), and writes at the API
	// server, as the client of a manager does. Required.
	Client client.Client
	// Live reads from the API server. Required.
	Live client.Reader
	// Recorder records the events about instances, bindings and plans.
	// Required.
	Recorder events.EventRecorder

	// TouchesPerSecond and Burst are the token bucket that all touches share.
	// They default to 20 and 50.
	TouchesPerSecond float64
	Burst            int

	// ServiceTypes has the keeper record the default of each type and keep the
	// types' objects, as the feature gate says. SuggestedPlans lets their status
	// count what brokers suggest.
	ServiceTypes, SuggestedPlans bool

	// QueueMetrics has the queues count in controller-runtime's metrics, which costs a
	// tick of each every half second.
	QueueMetrics bool

	// Log defaults to none.
	Log logr.Logger
	// Clock times touches and pauses; the election and the queues have their own. It
	// defaults to the real one.
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
		{"Lease", o.Lease != nil},
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

// complete sets the defaults.
func (o *Options) complete() {
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
}

func orDefault[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}
