package relist

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/osb"
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
	plans := 200
	if text := os.Getenv("DEFAULTPLAN_PLANS"); text != "" {
		var err error
		plans, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	w := newWorld(t, false)
	w.broker.NameSuffix = "many"
	w.engine.Reader, w.engine.PerReport = w.cached(), plans/2
	catalog := generated(plans/100, 100)
	began := time.Now()
	result, writes := w.relist(catalog)
	require.NoError(t, result.Err())
	assert.Equal(t, 2*plans+4*(plans/100), writes)
	assert.Equal(t, []Progress{{Applied: plans / 2, Plans: plans}}, w.reported)
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
	if os.Getenv("DEFAULTPLAN_PLANS") != "" {
		w.bare(catalog)
	}
	began = time.Now()
	_, writes = w.relist(catalog)
	assert.Zero(t, writes)
	assert.Empty(t, w.reported, "nothing is written, so there is nothing to report")
	t.Logf("unchanged relist of %d plans: %s", plans, time.Since(began))
}

// bare applies the same objects, each by one write, to tell what more a relist costs.
func (w *world) bare(catalog *osb.Catalog) {
	w.Helper()
	broker := w.broker
	broker.NameSuffix = "bare"
	objects, _ := Wanted(broker, catalog)
	var all []Object
	for i := range objects.Classes {
		all = append(append(all, objects.Classes[i].Plans...), objects.Classes[i].Object)
	}
	began := time.Now()
	w.engine.parallel(len(all), func(i int) {
		object := &all[i]
		whole, _ := document(object.Kind, client.ObjectKey{Name: object.Name}, "")
		whole[inSpec] = object.Facts
		for k := range object.Suggestions {
			merge.Set(whole, object.Suggestions[k].At, object.Suggestions[k].Value)
		}
		stored := kinds[object.Kind].newObject()
		stored.SetName(object.Name)
		assert.NoError(w, w.client.Patch(w.Context(), stored, client.RawPatch(types.ApplyPatchType, applied(whole)), client.FieldOwner("bare")))
	})
	w.Logf("bare apply of %d objects: %s", len(all), time.Since(began))
}
