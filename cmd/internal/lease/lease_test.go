package lease_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/defaultplan/defaultplan/cmd/internal/lease"
)

// At the end the Lease is given up, at once and whatever ended the process, and only by
// who holds it.
func TestResign(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, holder, after string
	}{
		"Leader": {reason: "the next one need not wait", holder: "me", after: ""},
		"Other":  {reason: "another's is not ours to give", holder: "other", after: "other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, ended := context.WithCancel(t.Context())
			leases := fake.NewClientset().CoordinationV1()
			lock := &resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Namespace: "ns", Name: "leader"}, Client: leases,
				LockConfig: resourcelock.ResourceLockConfig{Identity: "me"},
			}
			require.Error(t, lease.Resign(ctx, lock), "there is none")
			require.NoError(t, lock.Create(ctx, resourcelock.LeaderElectionRecord{HolderIdentity: tc.holder, LeaseDurationSeconds: 15}))
			ended()
			require.NoError(t, lease.Resign(ctx, lock))
			stored, err := leases.Leases("ns").Get(t.Context(), "leader", metav1.GetOptions{})
			require.NoError(t, err)
			assert.Equal(t, tc.after, *stored.Spec.HolderIdentity, tc.reason)
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
