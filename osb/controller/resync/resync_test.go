package resync

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// However many rest, so many are looked at in a second; few rest for as long as is asked for.
func TestManyRestLonger(t *testing.T) {
	t.Parallel()
	var r Schedule
	binding := func(i int) *v1beta1.ServiceBinding {
		return &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i)}}
	}
	for round := range 2 { // an object counts once
		for i := range 480 {
			pause := r.After(binding(i), time.Minute)
			assert.Equal(t, time.Minute, pause, "round %d", round)
		}
	}
	for i := 480; i < 10000; i++ {
		r.After(binding(i), time.Minute)
	}
	assert.Equal(t, 1250*time.Second, r.After(binding(0), time.Minute))
	assert.Equal(t, time.Hour, r.After(binding(0), time.Hour))
	for range 2 {
		for i := 480; i < 10000; i++ {
			r.Forget(client.ObjectKeyFromObject(binding(i)))
		}
	}
	assert.Equal(t, time.Minute, r.After(binding(0), time.Minute))
}

// A namespace with many objects that rest does not delay those of the others, and rests no longer than it
// would if all shared all looks.
func TestNamespacesRestApart(t *testing.T) {
	t.Parallel()
	var r Schedule
	binding := func(namespace string, i int) *v1beta1.ServiceBinding {
		return &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint(i)}}
	}
	for i := range 100_000 {
		r.After(binding("many", i), time.Minute)
	}
	for i := range 240 {
		assert.Equal(t, time.Minute, r.After(binding("few", i), time.Minute), "%d of 240", i)
	}
	assert.Equal(t, 100_240*time.Second/restingPerSecond, r.After(binding("many", 0), time.Minute))
	assert.Equal(t, time.Minute, r.After(binding("few", 0), time.Minute))
	for i := range 240 {
		r.After(binding("third", i), time.Minute)
	}
	assert.Equal(t, 90*time.Second, r.After(binding("few", 0), time.Minute), "three namespaces have a third each")
	for i := range 100_000 {
		r.Forget(client.ObjectKeyFromObject(binding("many", i)))
	}
	assert.Equal(t, time.Minute, r.After(binding("few", 0), time.Minute), "two have a half each")
	for _, namespace := range []string{"few", "third"} {
		for i := range 240 {
			r.Forget(client.ObjectKeyFromObject(binding(namespace, i)))
		}
	}
	assert.Zero(t, r.Count())
	assert.Empty(t, r.in)
}
