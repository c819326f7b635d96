package test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// lostRevisions is more than any test writes between a snapshot and the loss of what came after it.
const lostRevisions = 1_000_000

func TestARestoredSnapshotIsTheClusterAsItWasThen(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "snapshot")
	first := start(t, t.TempDir())
	create(t, clientset(t, first), "before")
	output, err := exec.Command(binary(), "-dir", first.dir, "-snapshot", file).CombinedOutput()
	require.NoError(t, err, string(output))
	assert.Empty(t, string(output))
	create(t, clientset(t, first), "after")
	last, err := clientset(t, first).CoreV1().ConfigMaps("default").Get(t.Context(), "after", metav1.GetOptions{})
	require.NoError(t, err)
	require.Zero(t, first.end(t, syscall.SIGTERM))

	assert.Contains(t, refused(t, "-dir", first.dir, "-restore", file), "holds data already: choose an empty -dir")

	second := start(t, t.TempDir(), "-restore", file)
	maps := clientset(t, second).CoreV1().ConfigMaps("default")
	_, err = maps.Get(t.Context(), "before", metav1.GetOptions{})
	require.NoError(t, err)
	_, err = maps.Get(t.Context(), "after", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	create(t, clientset(t, second), "after")
	now, err := maps.Get(t.Context(), "after", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Greater(t, revision(t, now.ResourceVersion), revision(t, last.ResourceVersion)+lostRevisions,
		"a watcher that saw the lost revisions would miss what happens next")
	require.Zero(t, second.end(t, syscall.SIGTERM))
	start(t, second.dir)
}

func TestASnapshotOfEtcdAloneIsTakenByItsAddress(t *testing.T) {
	t.Parallel()
	etcd := start(t, t.TempDir(), "-only=etcd")
	file := filepath.Join(t.TempDir(), "snapshot")
	address := strings.TrimPrefix(etcd.ready, "ready ")
	output, err := exec.Command(binary(), "-etcd-url", address, "-snapshot", file).CombinedOutput()
	require.NoError(t, err, string(output))
	require.FileExists(t, file)

	require.Zero(t, etcd.end(t, syscall.SIGTERM))
	assert.Contains(t, refused(t, "-dir", etcd.dir, "-snapshot", file), "cannot reach etcd")
	start(t, t.TempDir(), "-only=etcd", "-restore", file)
}

func revision(t *testing.T, resourceVersion string) int {
	t.Helper()
	number, err := strconv.Atoi(resourceVersion)
	require.NoError(t, err)
	return number
}
