package world

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/webhook/offline"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// Of the bindings to instances of one name, such as db, those of an instance are found without a look
// at the others: there may be thousands, and each instance that is provisioned wakes its own.
func TestBindingsToInstancesOfOneName(t *testing.T) { // not parallel: it measures what is allocated
	of := options.New()
	cluster, err := offline.New(of)
	require.NoError(t, err)
	require.NoError(t, Index(t.Context(), cluster))
	binding := func(namespace, name, instance, of string) {
		require.NoError(t, cluster.Restore(fmt.Appendf(nil, `{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ServiceBinding",`+
			`"metadata":{"namespace":%q,"name":%q,"uid":%q,"resourceVersion":"1"},"spec":{"instanceRef":{"name":%q,"namespace":%q}}}`, namespace, name, namespace+name, instance, of)))
	}
	const many = 1000
	for i := range many {
		binding(fmt.Sprint("n", i), "b", "db", "")
	}
	binding("shop", "own", "db", "")
	binding("away", "shared", "db", "shop")
	binding("shop", "other", "cache", "")
	w, err := New(cluster, of)
	require.NoError(t, err)
	found, err := w.brokers.bindingsTo(t.Context(), At("shop", "db"))
	require.NoError(t, err)
	require.Len(t, found, 2)
	assert.Equal(t, "shared", found[0].Name, "that of another namespace, too")
	assert.Equal(t, "own", found[1].Name)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = w.brokers.bindingsTo(t.Context(), At("shop", "db"))
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100*many), "each binding is larger")
}
