package relist

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// cached reads classes and plans from a cache, as the controller does.
func (w *world) cached() client.Reader {
	w.Helper()
	shared, err := cache.New(apiServer(w.T).RESTConfig(), cache.Options{Scheme: w.client.Scheme()})
	require.NoError(w, err)
	ctx, cancel := context.WithCancel(w.Context())
	w.Cleanup(cancel)
	require.NoError(w, shared.IndexField(ctx, &api.ClusterServicePlan{}, api.FieldClusterServiceBrokerName, func(o client.Object) []string {
		return []string{see(o).broker}
	}))
	require.NoError(w, shared.IndexField(ctx, &api.ClusterServiceClass{}, api.FieldClusterServiceBrokerName, func(o client.Object) []string {
		return []string{see(o).broker}
	}))
	for _, kind := range []client.Object{&api.ServicePlan{}, &api.ServiceClass{}} {
		require.NoError(w, shared.IndexField(ctx, kind, api.FieldClusterServiceBrokerName, func(o client.Object) []string { return []string{see(o).copied} }))
	}
	go func() { _ = shared.Start(ctx) }()
	require.True(w, shared.WaitForCacheSync(ctx))
	return shared
}

// A large catalog is taken over through a cache, and the second time writes nothing.
// DEFAULTPLAN_PLANS says how many plans: 10000 takes a minute or two.
func TestManyPlans(t *testing.T) {
	plans := 400
	if text := os.Getenv("DEFAULTPLAN_PLANS"); text != "" {
		var err error
		plans, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	w := newWorld(t, false)
	w.broker.NameSuffix = "many"
	w.engine.Reader = w.cached()
	catalog := generated(plans/100, 100)
	began := time.Now()
	result, writes := w.relist(catalog)
	require.NoError(t, result.Err())
	assert.Equal(t, 2*plans+3*(plans/100), writes)
	t.Logf("first relist of %d plans: %s, %d writes", plans, time.Since(began), writes)
	require.Eventually(t, func() bool {
		var list api.ClusterServiceClassList
		require.NoError(t, w.engine.Reader.List(t.Context(), &list, client.MatchingFields{api.FieldClusterServiceBrokerName: w.broker.Name}))
		counted := 0
		for i := range list.Items {
			if list.Items[i].Status.PaidPlans+list.Items[i].Status.FreePlans == 100 && list.Items[i].Spec.ServiceType != "" {
				counted++
			}
		}
		return counted == plans/100
	}, 30*time.Second, 50*time.Millisecond)
	began = time.Now()
	_, writes = w.relist(catalog)
	assert.Zero(t, writes)
	t.Logf("unchanged relist of %d plans: %s", plans, time.Since(began))
}
