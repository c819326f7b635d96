package stack

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestPartsComeAndGo stops the API server, and pauses etcd.
func TestPartsComeAndGo(t *testing.T) {
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
	names, err := Running(ctx, s.options.Dir)
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
	require.NoError(t, Eventually(ctx, func() (bool, error) {
		err := s.Client().Delete(ctx, kept)
		return err == nil, err
	}))
	_, err = (&Stack{}).PauseEtcd(ctx)
	require.ErrorContains(t, err, "not Apart")
}

func TestBalancerKnowsOnlyWhatItIsTold(t *testing.T) {
	t.Parallel()
	a, gone := echo(t, "a"), echo(t, "b")
	require.NoError(t, gone.Close())
	b := newBalancer(t, a.Addr().String(), gone.Addr().String())
	b.Blind()
	var answered, hungUp int
	for range 4 {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", b.Addr())
		require.NoError(t, err)
		// The one that is gone may have hung up already.
		_, _ = io.WriteString(conn, "hello\n")
		_ = conn.(*net.TCPConn).CloseWrite()
		said, _ := io.ReadAll(conn)
		_ = conn.Close()
		if string(said) == "a:hello\n" {
			answered++
		} else {
			hungUp++
		}
	}
	assert.Equal(t, []int{2, 2}, []int{answered, hungUp}, "every other connection is given to one that is gone")

	b.Withdraw(1)
	for range 4 {
		assert.Equal(t, "a:hello\n", ask(t, b.Addr()))
	}
	b.Offer(1)
	b.Withdraw(0)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", b.Addr())
	require.NoError(t, err)
	said, _ := io.ReadAll(conn)
	assert.Empty(t, said)
	require.NoError(t, conn.Close())
}

func TestAPIProxySpies(t *testing.T) {
	t.Parallel()
	p, _, host := newProxied(t)
	told := make(chan string, 10)
	p.Spy(func(w *APIWrite) { told <- w.String() })
	_, back := p.Away(1 << 30)
	_, err := requestOf(t.Context(), http.MethodPost, host+instancePath, http.NoBody)
	require.Error(t, err)
	assert.Equal(t, "POST serviceinstances/ ns/", <-told, "it was tried, and cut off")
	back()
	_, err = requestOf(t.Context(), http.MethodPatch, host+instancePath+"/db/status", strings.NewReader(`{}`))
	require.NoError(t, err)
	assert.Equal(t, "PATCH serviceinstances/status ns/db", <-told)
	_, err = requestOf(t.Context(), http.MethodGet, host+instancePath, http.NoBody)
	require.NoError(t, err)
	assert.Empty(t, told, "a read is none")
}
