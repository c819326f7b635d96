package stack

import (
	"context"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack/loopback"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// TestKeeperAndRejecterComeAndGo runs a keeper without any hook of ours, and the
// hook of another project.
func TestKeeperAndRejecterComeAndGo(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, err := Start(ctx, Options{Dir: t.TempDir(), Bin: "../../bin"})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Stop()) })
	t.Run("Keeper", func(t *testing.T) {
		t.Parallel()
		k, err := s.StartKeeper(ctx)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, k.Stop(context.Background(), syscall.SIGTERM)) })
		first := s.holder(t)
		require.ErrorContains(t, k.Start(ctx), "it runs")
		require.ErrorContains(t, k.Bury(ctx), "it was not stopped")
		require.FileExists(t, k.Log())

		require.NoError(t, k.Stop(ctx, syscall.SIGKILL))
		require.NoError(t, k.Stop(ctx, syscall.SIGKILL), "twice is no error")
		require.Equal(t, first, s.holder(t), "a killed keeper holds its lease")
		require.NoError(t, k.Bury(ctx))
		require.NoError(t, k.Start(ctx))
		require.NotEqual(t, first, s.holder(t), "another took over")
		_, err = s.Scrape(ctx, k.Metrics())
		require.NoError(t, err)

		// It ends by itself.
		pid, err := s.Pid("keeper")
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
		require.NoError(t, wait.Eventually(ctx, func() (bool, error) {
			// While it is away there is none.
			now, err := s.Pid("keeper")
			return err == nil && now != pid && probe(ctx, "http://"+loopback.Address(k.health)+"/readyz") == nil, err
		}), "it is started again")
		require.NoError(t, k.Stop(ctx, syscall.SIGTERM))
		require.NoFileExists(t, s.Path("processes", "keeper"))
	})
	t.Run("Rejecter", func(t *testing.T) {
		t.Parallel()
		r, err := StartRejecter(ctx, s.client, 1, 7)
		require.NoError(t, err)
		serviceType := &api.ClusterServiceType{ObjectMeta: metav1.ObjectMeta{Name: "rejected"}}
		err = s.client.Create(ctx, serviceType)
		require.True(t, apierrors.IsForbidden(err), "%v", err)
		require.ErrorContains(t, err, RejectedAtRandom)
		asked, rejected := r.Count()
		assert.Equal(t, asked, rejected, "a share of 1 is all")
		require.NoError(t, s.client.Create(ctx, named("not-asked-about")))

		require.NoError(t, r.Stop(ctx))
		require.NoError(t, s.client.Create(ctx, serviceType))
	})
}

// holder waits until some keeper holds the lease, and returns which.
func (s *Stack) holder(t *testing.T) string {
	t.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: keeperNamespace, Name: "defaultplan-keeper"}}
	require.NoError(t, wait.Eventually(t.Context(), func() (bool, error) {
		err := s.client.Get(t.Context(), client.ObjectKeyFromObject(lease), lease)
		return err == nil && lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != "", err
	}))
	return *lease.Spec.HolderIdentity
}
