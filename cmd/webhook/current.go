package main

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/fields"
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

// followCurrent watches the keeper's Lease, and returns a check that the cache of the catalog
// is current: the Lease and all kinds of the catalog were heard of lately. Readiness does not
// wait for the Lease: without the right to watch it, or without a keeper, choices by type are
// made by what the API server has, which is slower and as right.
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
	if _, err := leases.GetInformer(ctx, &coordinationv1.Lease{}, cache.BlockUntilSynced(false)); err != nil {
		return nil, fmt.Errorf("cannot watch the keeper's Lease: %w", err)
	}
	if err := mgr.Add(leases); err != nil {
		return nil, fmt.Errorf("cannot watch the keeper's Lease: %w", err)
	}
	within := map[string]time.Duration{"leases": leaseSilence}
	for _, resource := range []string{"clusterserviceclasses", "clusterserviceplans", "serviceclasses", "serviceplans", "servicetypes"} {
		within[resource] = watchSilence
	}
	return watchfreshness.Current(within), nil
}
