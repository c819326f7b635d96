package controller

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// However many rest, so many are looked at in a second; few rest for as long as is asked for.
func TestManyRestLonger(t *testing.T) {
	t.Parallel()
	var r rests
	binding := func(i int) *v1beta1.ServiceBinding {
		return &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i)}}
	}
	for round := range 2 { // an object counts once
		for i := range 960 {
			pause := r.pause(binding(i), time.Minute)
			assert.Equal(t, time.Minute, pause, "round %d", round)
		}
	}
	for i := 960; i < 10000; i++ {
		r.pause(binding(i), time.Minute)
	}
	assert.Equal(t, 625*time.Second, r.pause(binding(0), time.Minute))
	assert.Equal(t, time.Hour, r.pause(binding(0), time.Hour))
	for range 2 {
		for i := 960; i < 10000; i++ {
			r.forget(client.ObjectKeyFromObject(binding(i)))
		}
	}
	assert.Equal(t, time.Minute, r.pause(binding(0), time.Minute))
}

// A namespace with many objects that rest does not delay those of the others, and rests no longer than it
// would if all shared all looks.
func TestNamespacesRestApart(t *testing.T) {
	t.Parallel()
	var r rests
	binding := func(namespace string, i int) *v1beta1.ServiceBinding {
		return &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint(i)}}
	}
	for i := range 100_000 {
		r.pause(binding("many", i), time.Minute)
	}
	for i := range 480 {
		assert.Equal(t, time.Minute, r.pause(binding("few", i), time.Minute), "%d of 480", i)
	}
	assert.Equal(t, 100_480*time.Second/restsPerSecond, r.pause(binding("many", 0), time.Minute))
	assert.Equal(t, time.Minute, r.pause(binding("few", 0), time.Minute))
	for i := range 480 {
		r.pause(binding("third", i), time.Minute)
	}
	assert.Equal(t, 90*time.Second, r.pause(binding("few", 0), time.Minute), "three namespaces have a third each")
	for i := range 100_000 {
		r.forget(client.ObjectKeyFromObject(binding("many", i)))
	}
	assert.Equal(t, time.Minute, r.pause(binding("few", 0), time.Minute), "two have a half each")
	for _, namespace := range []string{"few", "third"} {
		for i := range 480 {
			r.forget(client.ObjectKeyFromObject(binding(namespace, i)))
		}
	}
	assert.Zero(t, r.count())
	assert.Empty(t, r.in)
}

// What is gone rests no more: also what waited, and never had our finalizer.
func TestWhatIsGoneRestsNoMore(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	at := client.ObjectKey{Namespace: "n", Name: "waits"}
	waits := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: at.Namespace, Name: at.Name, UID: "waits"}}
	waits.Spec.InstanceRef = &v1beta1.InstanceReference{Name: "absent"}
	require.NoError(t, w.cache.Create(t.Context(), waits))
	for range 2 {
		_, err := w.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: at})
		require.NoError(t, err)
	}
	assert.Equal(t, 1, w.reconciler.engine.rests.count())
	require.NoError(t, w.cache.Delete(t.Context(), waits))
	_, err := w.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: at})
	require.NoError(t, err)
	assert.Zero(t, w.reconciler.engine.rests.count())
}
