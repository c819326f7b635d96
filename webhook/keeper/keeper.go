package keeper

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
	"k8s.io/utils/lru"
)

// remembered is how many who wait the keeper knows to have told that they wait.
// Beyond that, one may be told twice.
const remembered = 16384

// A Keeper does the keeper's duties while it holds the Lease. It is a runnable of
// a controller-runtime manager.
type Keeper struct {
	options Options
	metrics *measures
	// defaultWrites counts what the recorder writes.
	defaultWrites *prometheus.CounterVec
	// bucket and told outlive a term: neither the API server's patience nor what
	// users were told depends on who leads.
	bucket *rate.Limiter
	told   *lru.Cache
}

// New returns a keeper. It fails, naming the option, if one is missing or out of
// bounds, and if the metrics' names are taken by others.
func New(options Options) (*Keeper, error) {
	if err := options.validate(); err != nil {
		return nil, fmt.Errorf("cannot make the keeper: %w", err)
	}
	if err := options.complete(); err != nil {
		return nil, fmt.Errorf("cannot make the keeper: %w", err)
	}
	k := &Keeper{
		options: options,
		bucket:  rate.NewLimiter(rate.Limit(options.TouchesPerSecond), options.Burst),
		told:    lru.New(remembered),
	}
	// An election that cannot be is better known now than in the loop.
	if _, err := k.newCandidate(); err != nil {
		return nil, fmt.Errorf("cannot make the keeper: %w", err)
	}
	var err error
	if k.metrics, err = newMeasures(options.Registerer); err != nil {
		return nil, fmt.Errorf("cannot make the keeper: %w", err)
	}
	if k.defaultWrites, err = newDefaultWrites(options.Registerer); err != nil {
		return nil, fmt.Errorf("cannot make the keeper: %w", err)
	}
	return k, nil
}

// Start campaigns for the Lease, and keeps while it is held, until ctx ends. It
// needs a cache that is started. It returns nil: nothing that happens to the
// keeper ends the process.
func (k *Keeper) Start(ctx context.Context) error {
	for ctx.Err() == nil {
		k.campaign(ctx)
		// A term that could not even begin must not be followed by the next at
		// once.
		k.pause(ctx)
	}
	return nil
}

// NeedLeaderElection says that a manager starts the keeper everywhere: it holds
// an election of its own, which ends its work but never the process.
func (*Keeper) NeedLeaderElection() bool { return false }

func (k *Keeper) pause(ctx context.Context) {
	timer := k.options.Clock.NewTimer(k.options.RetryPeriod)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C():
	}
}
