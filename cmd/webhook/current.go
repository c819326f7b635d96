package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/defaultplan/defaultplan/cmd/internal/watchfreshness"
	"github.com/defaultplan/defaultplan/webhook/keeper"
)

const (
	// leaseSilence is how long the keeper's Lease, which is renewed every two seconds, may
	// not be heard of: it is watched on the connection of all watches.
	leaseSilence = 10 * time.Second
	// watchSilence is how long a watch may be silent: the API server sends a bookmark about
	// once a minute.
	watchSilence = 130 * time.Second
)

// renewals are when the keeper's Lease was last seen to change.
type renewals struct {
	clock clock.PassiveClock
	// last is nil for never.
	last atomic.Pointer[time.Time]
}

// OnAdd ignores the Lease as it was found: its keeper may be gone.
func (*renewals) OnAdd(any, bool) {}

// OnUpdate records a renewal.
func (r *renewals) OnUpdate(before, after any) {
	was, ok := before.(*coordinationv1.Lease)
	is, also := after.(*coordinationv1.Lease)
	if ok && also && was.ResourceVersion != is.ResourceVersion {
		now := r.clock.Now()
		r.last.Store(&now)
	}
}

// OnDelete ignores it: without a Lease none is renewed.
func (*renewals) OnDelete(any) {}

// recent says whether the last one was seen lately.
func (r *renewals) recent() bool {
	last := r.last.Load()
	return last != nil && r.clock.Since(*last) <= leaseSilence
}

// inEveryReplica starts a cache whether or not its process leads.
type inEveryReplica struct{ cache.Cache }

// NeedLeaderElection is of manager.LeaderElectionRunnable.
func (inEveryReplica) NeedLeaderElection() bool { return false }

// followCurrent watches the keeper's Lease, and returns a check that the cache of the catalog
// is current: the Lease was renewed, and all kinds of the catalog were heard of, lately.
// Readiness does not wait for the Lease: without the right to watch it, or without a keeper,
// choices by type are made by what the API server has, which is slower and just as correct.
func followCurrent(ctx context.Context, mgr manager.Manager, namespace string) (func() bool, error) {
	leases, err := cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
		ByObject: map[client.Object]cache.ByObject{&coordinationv1.Lease{}: {
			Namespaces: map[string]cache.Config{namespace: {}},
			Field:      fields.OneTermEqualSelector("metadata.name", keeper.DefaultLeaseName),
		}},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot set up the cache of the keeper's Lease: %w", err)
	}
	informer, err := leases.GetInformer(ctx, &coordinationv1.Lease{}, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("cannot watch the keeper's Lease: %w", err)
	}
	renewed := &renewals{clock: clock.RealClock{}}
	if _, err := informer.AddEventHandler(renewed); err != nil {
		return nil, fmt.Errorf("cannot watch the keeper's Lease: %w", err)
	}
	if err := mgr.Add(inEveryReplica{leases}); err != nil {
		return nil, fmt.Errorf("cannot watch the keeper's Lease: %w", err)
	}
	within := map[string]time.Duration{}
	for _, resource := range []string{"clusterserviceclasses", "clusterserviceplans", "serviceclasses", "serviceplans", "servicetypes"} {
		within[resource] = watchSilence
	}
	heard := watchfreshness.Current(within)
	return func() bool { return renewed.recent() && heard() }, nil
}
