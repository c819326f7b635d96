package lease_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/defaultplan/defaultplan/cmd/internal/lease"
)

// Who ends well gives the Lease up, if it is theirs, before they wait for a collector of
// spans; who lost it ends at once.
func TestFinish(t *testing.T) {
	t.Parallel()
	lost := errors.New("leader election lost")
	for name, tc := range map[string]struct {
		reason, holder, after string
		failure               error
		outside, absent       bool
		flushed               bool
	}{
		"Leader":  {reason: "the next one need not wait", holder: "me", after: "", flushed: true},
		"Other":   {reason: "another's is not ours to give", holder: "other", after: "other", flushed: true},
		"Absent":  {reason: "that there is no Lease does not keep the process", absent: true, flushed: true},
		"Outside": {reason: "it takes no part in the election", holder: "me", after: "me", outside: true, flushed: true},
		"Lost":    {reason: "work may be under way: five seconds for spans are five too many", holder: "me", after: "me", failure: lost},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, ended := context.WithCancel(t.Context())
			leases := fake.NewClientset().CoordinationV1()
			lock := &resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Namespace: "ns", Name: "leader"}, Client: leases,
				LockConfig: resourcelock.ResourceLockConfig{Identity: "me"},
			}
			holder := func() string {
				stored, err := leases.Leases("ns").Get(t.Context(), "leader", metav1.GetOptions{})
				if tc.absent {
					return ""
				}
				require.NoError(t, err)
				return *stored.Spec.HolderIdentity
			}
			if !tc.absent {
				require.NoError(t, lock.Create(ctx, resourcelock.LeaderElectionRecord{HolderIdentity: tc.holder, LeaseDurationSeconds: 15}))
			}
			ended()
			flushed := false
			err := lease.Finish(ctx, tc.failure, lock, !tc.outside, func() {
				flushed = true
				assert.Equal(t, tc.after, holder(), "before the spans are sent")
			})
			require.ErrorIs(t, err, tc.failure)
			assert.Equal(t, tc.flushed, flushed, tc.reason)
			assert.Equal(t, tc.after, holder(), tc.reason)
		})
	}
}

// Every process is another candidate, also on one host.
func TestLeaseIsOfTheProcess(t *testing.T) {
	t.Parallel()
	one, err := lease.New(&rest.Config{}, "ns", "leader")
	require.NoError(t, err)
	other, err := lease.New(&rest.Config{}, "ns", "leader")
	require.NoError(t, err)
	assert.NotEqual(t, one.Identity(), other.Identity())
	assert.Equal(t, "ns/leader", one.Describe())
}
