package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
)

// Only a Lease that changes shows that its keeper lives and that the watch hears of it.
func TestRenewals(t *testing.T) {
	t.Parallel()
	revision := func(version string) *coordinationv1.Lease {
		return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}
	}
	now := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	seen := &renewals{clock: now}
	assert.False(t, seen.recent(), "there is no Lease")
	seen.OnAdd(revision("1"), true)
	assert.False(t, seen.recent(), "the Lease may be an old one")
	seen.OnUpdate(revision("1"), revision("1"))
	assert.False(t, seen.recent(), "a cache that is replayed renews nothing")
	seen.OnUpdate(revision("1"), revision("2"))
	assert.True(t, seen.recent())
	now.SetTime(time.Unix(1000, 0).Add(leaseSilence))
	assert.True(t, seen.recent())
	now.SetTime(time.Unix(1001, 0).Add(leaseSilence))
	seen.OnDelete(revision("2"))
	assert.False(t, seen.recent(), "it was not renewed since")
}
