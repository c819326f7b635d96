package endpoints

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Refusals in a row are paused for longer and longer; anything else is written at once.
func TestRefusals(t *testing.T) {
	t.Parallel()
	b := &v1beta1.ServiceBinding{}
	b.Namespace, b.Name, b.Generation = "n", "b", 1
	now := time.Unix(1_800_000_000, 0)
	var r refusals
	assert.Zero(t, r.wait(b, now), "none was refused")
	for n, pause := range []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second} {
		r.add(b, now, 5*time.Second)
		assert.Equal(t, pause, r.wait(b, now), "after %d refusals before", n)
		assert.Zero(t, r.wait(b, now.Add(pause)))
	}
	changed := b.DeepCopy()
	changed.Status.Endpoints = []v1beta1.BindingEndpoint{{Host: "h"}}
	assert.Zero(t, r.wait(changed, now), "other endpoints")
	other := b.DeepCopy()
	other.Name = "c"
	assert.Zero(t, r.wait(other, now), "another binding")
	r.add(changed, now, time.Minute)
	assert.Zero(t, r.wait(changed, now), "the first of its kind")
	for range 40 {
		r.add(b, now, time.Hour)
	}
	assert.Equal(t, time.Hour, r.wait(b, now), "the pause does not overflow")
	r.forget(types.NamespacedName{Namespace: "n", Name: "b"})
	assert.Zero(t, r.wait(b, now))
}
