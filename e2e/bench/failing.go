package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/defaultplan/defaultplan/e2e/bench/measure"
)

const (
	failingWritesGoal = 10 // a second
	failingCPUGoal    = 5  // % of a core
	failingLogGoal    = 50 // kB a minute
)

// measureForEver measures what thousands of instances cost that fail for ever, once they have
// failed for a while: a broker answers each of their provisions with 500.
func measureForEver(ctx context.Context, b *bench) error {
	return onFair(ctx, b, func(f *fair) error {
		size := b.size.failing
		if err := f.crowd(ctx, "broken", brokenPlan, size.instances); err != nil {
			return err
		}
		if err := pause(ctx, size.age); err != nil {
			return err
		}
		refused := f.brokers.refused.Load()
		if refused < int64(size.instances) {
			return fmt.Errorf("the broker refused %d requests in %s: of %d instances each must have failed", refused, size.age, size.instances)
		}
		w, err := f.observe(ctx, size.window)
		if err != nil {
			return err
		}
		b.table.Add(measure.Row{
			What:  fmt.Sprintf("%d instances that fail for ever, after %s: writes", size.instances, size.age),
			Value: w.spent.allWrites() / w.took.Seconds(), Unit: "/s", Bound: measure.AtMost, Goal: failingWritesGoal,
			Detail: fmt.Sprintf("of everything but Leases, in %.0f s; each second: %s; the broker refused %d requests before and %d meanwhile",
				w.took.Seconds(), w.spent.per(w.took.Seconds()), refused, f.brokers.refused.Load()-refused),
		})
		b.table.Add(measure.Row{
			What: "  processor time of the controller", Value: 100 * w.controller.Seconds() / w.took.Seconds(), Unit: "%", Bound: measure.AtMost, Goal: failingCPUGoal, Detail: "of one core",
		})
		const kilo = 1e3
		b.table.Add(measure.Row{
			What: "  log of the controller", Value: float64(w.log) / kilo / w.took.Minutes(), Unit: "kB/min", Bound: measure.AtMost, Goal: failingLogGoal,
		})
		return nil
	})
}

// crowd creates instances of the hostile tenant, all of one plan of the shared broker.
func (f *fair) crowd(ctx context.Context, prefix, plan string, count int) error {
	group, ctx := errgroup.WithContext(ctx)
	for c := range creators {
		group.Go(func() error {
			for n := c; n < count; n += creators {
				instance := f.instance(hostileTenant, fmt.Sprintf("%s-%d", prefix, n), "")
				instance.Spec.ClusterServiceClassExternalName, instance.Spec.ClusterServicePlanExternalName = servingService(sharedBroker), plan
				if err := f.Client().Create(ctx, instance); err != nil {
					return fmt.Errorf("cannot create an instance: %w", err)
				}
			}
			return nil
		})
	}
	return group.Wait() //nolint:wrapcheck // it says what failed
}

// A window is what was done in a while: requests to the API server, and what the controller took.
type window struct {
	took, controller time.Duration
	spent            requests
	// log is what the controller logged, in bytes.
	log int64
}

// observe waits, and says what was done meanwhile.
func (f *fair) observe(ctx context.Context, length time.Duration) (window, error) {
	before, err := f.sample(ctx)
	if err != nil {
		return window{}, err
	}
	began := time.Now()
	if err := pause(ctx, length); err != nil {
		return window{}, err
	}
	took := time.Since(began)
	after, err := f.sample(ctx)
	if err != nil {
		return window{}, err
	}
	return window{took: took, controller: after.controller - before.controller, spent: after.spent.since(before.spent), log: after.log - before.log}, nil
}

// sample is all that was done until now.
func (f *fair) sample(ctx context.Context) (window, error) {
	var w window
	pid, err := f.Pid(controllerProcess)
	if err != nil {
		return w, err //nolint:wrapcheck // it says what failed
	}
	if w.controller, err = measure.CPU(pid); err != nil {
		return w, err
	}
	logged, err := os.Stat(f.controller.Log())
	if err != nil {
		return w, fmt.Errorf("cannot tell the size of the controller's log: %w", err)
	}
	w.log = logged.Size()
	w.spent, err = f.requests(ctx)
	return w, err
}

// pause waits, unless ctx ends.
func pause(ctx context.Context, length time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(length):
		return nil
	}
}
