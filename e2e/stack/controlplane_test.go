package stack

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/stack/process"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// TestControlPlaneComesAndGoes stops the API server, and pauses etcd.
func TestControlPlaneComesAndGoes(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, err := Start(ctx, Options{Dir: t.TempDir(), Bin: "../../bin", Apart: true})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Stop()) })
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kept"}}
	require.NoError(t, s.Client().Create(ctx, kept))

	require.ErrorContains(t, s.StartAPIServer(ctx), "it runs")
	require.NoError(t, s.StopAPIServer(ctx, syscall.SIGKILL))
	require.NoError(t, s.StopAPIServer(ctx, syscall.SIGKILL), "twice is no error")
	names, err := process.Running(ctx, s.options.Dir)
	require.NoError(t, err)
	assert.Equal(t, []string{etcdName}, names)
	require.NoError(t, s.StartAPIServer(ctx))
	require.NoError(t, s.Client().Get(ctx, client.ObjectKeyFromObject(kept), kept), "the client goes on at the same address")

	resume, err := s.PauseEtcd(ctx)
	require.NoError(t, err)
	soon, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	// What changes nothing need not be written.
	kept.SetLabels(map[string]string{"changed": "true"})
	require.Error(t, s.Client().Update(soon, kept), "nothing is written")
	require.NoError(t, resume())
	require.NoError(t, wait.Eventually(ctx, func() (bool, error) {
		err := s.Client().Delete(ctx, kept)
		return err == nil, err
	}))
	_, err = (&ControlPlane{}).PauseEtcd(ctx)
	require.ErrorContains(t, err, "not Apart")
}
