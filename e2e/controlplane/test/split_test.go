package test

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTheAPIServerAloneIsKilledAndComesBack(t *testing.T) {
	t.Parallel()
	etcd := start(t, t.TempDir(), "-only=etcd")
	address, isLine := strings.CutPrefix(etcd.ready, "ready ")
	require.True(t, isLine)
	assert.Regexp(t, `^http://127\.0\.0\.1:\d+$`, address)

	dir := t.TempDir()
	server := start(t, dir, "-only=apiserver", "-etcd-url="+address)
	create(t, clientset(t, server), "kept")
	assert.Equal(t, -1, server.end(t, syscall.SIGKILL))

	again := start(t, dir, "-only=apiserver", "-etcd-url="+address)
	assert.Equal(t, server.ready, again.ready)
	_, err := clientset(t, again).CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Zero(t, again.end(t, syscall.SIGTERM))
	assert.Zero(t, etcd.end(t, syscall.SIGTERM))
	assert.Empty(t, again.stderr.String())
	assert.Empty(t, etcd.stderr.String())
}

func TestAPausedEtcdMakesWritesFailAndHealsWhenItGoesOn(t *testing.T) {
	t.Parallel()
	etcd := start(t, t.TempDir(), "-only=etcd")
	server := start(t, t.TempDir(), "-only=apiserver", "-etcd-url="+strings.TrimPrefix(etcd.ready, "ready "))
	client := clientset(t, server)
	healthy := func(ctx context.Context) bool {
		ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		return client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() == nil
	}

	require.NoError(t, etcd.signal(syscall.SIGSTOP))
	eventually(t, func(ctx context.Context) bool { return !healthy(ctx) })
	require.NoError(t, etcd.signal(syscall.SIGCONT))
	eventually(t, healthy)
	create(t, client, "after")
}

func TestItEndsThoughEtcdHangs(t *testing.T) {
	t.Parallel()
	etcd := start(t, t.TempDir(), "-only=etcd")
	server := start(t, t.TempDir(), "-only=apiserver", "-etcd-url="+strings.TrimPrefix(etcd.ready, "ready "))
	require.NoError(t, etcd.signal(syscall.SIGSTOP))
	asked := time.Now()
	assert.Zero(t, server.end(t, syscall.SIGTERM))
	assert.Less(t, time.Since(asked), 30*time.Second, "each of three parts has ten")
}
