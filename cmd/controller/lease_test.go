package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
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
			lease := &resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Namespace: "ns", Name: leaseName}, Client: leases,
				LockConfig: resourcelock.ResourceLockConfig{Identity: "me"},
			}
			require.Error(t, resign(ctx, lease), "there is none")
			require.NoError(t, lease.Create(ctx, resourcelock.LeaderElectionRecord{HolderIdentity: tc.holder, LeaseDurationSeconds: 15}))
			ended()
			require.NoError(t, resign(ctx, lease))
			stored, err := leases.Leases("ns").Get(t.Context(), leaseName, metav1.GetOptions{})
			require.NoError(t, err)
			assert.Equal(t, tc.after, *stored.Spec.HolderIdentity, tc.reason)
		})
	}
}

// Every process is another candidate, also on one host.
func TestLeaseIsOfTheProcess(t *testing.T) {
	t.Parallel()
	one, err := newLease(&rest.Config{}, "ns", leaseOf(""))
	require.NoError(t, err)
	other, err := newLease(&rest.Config{}, "ns", leaseOf(""))
	require.NoError(t, err)
	assert.NotEqual(t, one.Identity(), other.Identity())
	assert.Equal(t, "ns/defaultplan-controller", one.Describe())
	third, err := newLease(&rest.Config{}, "ns", leaseOf("east"))
	require.NoError(t, err)
	assert.Equal(t, "ns/defaultplan-controller-east", third.Describe(), "controllers of other names work beside it")
}
