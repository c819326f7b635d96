package main

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whoever lost the Lease ends at once; whoever ends well gives the Lease up before it
// waits for a collector.
func TestFinish(t *testing.T) {
	t.Parallel()
	lost := errors.New("leader election lost")
	for name, tc := range map[string]struct {
		reason string
		err    error
		does   []string
	}{
		"Told": {reason: "the next leader does not wait for spans", does: []string{"resign", "flush"}},
		"Lost": {reason: "turns may be under way: five seconds for spans are five too many", err: lost},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var did []string
			err := finish(tc.err, func() { did = append(did, "resign") }, func() { did = append(did, "flush") })
			require.ErrorIs(t, err, tc.err)
			assert.Equal(t, tc.does, did, tc.reason)
		})
	}
}

// Controllers of other names work beside each other.
func TestLeaseOf(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "defaultplan-controller", leaseOf(""))
	assert.Equal(t, "defaultplan-controller-east", leaseOf("east"))
}
