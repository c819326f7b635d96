package keeper

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
	"github.com/defaultplan/defaultplan/webhook/keeper/defaults"
	"github.com/defaultplan/defaultplan/webhook/keeper/policystatus"
	"github.com/defaultplan/defaultplan/webhook/keeper/requeue"
	"github.com/defaultplan/defaultplan/webhook/keeper/slots"
)

// A Keeper runs the keeper's controllers in a manager that leads.
type Keeper struct {
	options Options
	metrics *measures
	// defaultWrites counts what the default recorder writes.
	defaultWrites *prometheus.CounterVec
	// bucket limits the rate of touches.
	bucket *rate.Limiter
}

// New returns a keeper. It fails, naming the option, if one is missing or out of
// bounds, and if the metrics' names are taken by others.
func New(options Options) (*Keeper, error) {
	if err := options.validate(); err != nil {
		return nil, fmt.Errorf("cannot make the keeper: %w", err)
	}
	options.complete()
	k := &Keeper{
		options: options,
		bucket:  rate.NewLimiter(rate.Limit(options.TouchesPerSecond), options.Burst),
	}
	var err error
	if k.metrics, err = newMeasures(options.Registerer); err != nil {
		return nil, fmt.Errorf("cannot make the keeper: %w", err)
	}
	if k.defaultWrites, err = defaults.NewWrites(options.Registerer); err != nil {
		return nil, fmt.Errorf("cannot make the keeper: %w", err)
	}
	return k, nil
}

// AddTo adds the controllers to a manager, whose options Elect has set. They
// start when it becomes the leader. If it loses the Lease, its Start fails, and
// the process must end: the kubelet starts the next one, with no state of this
// term.
func (k *Keeper) AddTo(mgr manager.Manager) error {
	controllers := []interface {
		AddTo(mgr manager.Manager, queueMetrics bool) error
	}{requeue.New(k.environment(), k.metrics.touches, k.bucket), policystatus.New(k.environment()), slots.New(k.environment())}
	if k.options.ServiceTypes {
		controllers = append(controllers, defaults.New(defaults.Options{
			Environment: k.environment(), Lease: k.options.Lease, Writes: k.defaultWrites, SuggestedPlans: k.options.SuggestedPlans,
		}))
	}
	for _, d := range controllers {
		if err := d.AddTo(mgr, k.options.QueueMetrics); err != nil {
			return err
		}
	}
	// A RunnableFunc only runs on the leader.
	if err := mgr.Add(manager.RunnableFunc(k.lead)); err != nil {
		return fmt.Errorf("cannot add the keeper: %w", err)
	}
	return nil
}

// environment holds the dependencies of the controllers.
func (k *Keeper) environment() controller.Environment {
	return controller.Environment{
		Client: k.options.Client, Live: k.options.Live, Recorder: k.options.Recorder, Log: k.options.Log, Clock: k.options.Clock,
	}
}

// lead marks this process as the keeper until ctx ends.
func (k *Keeper) lead(ctx context.Context) error {
	k.options.Log.Info("leading")
	k.metrics.leader.Set(1)
	k.metrics.census.takes(k)
	<-ctx.Done()
	k.metrics.census.takes(nil)
	k.metrics.leader.Set(0)
	k.options.Log.Info("no longer leading")
	return nil
}
