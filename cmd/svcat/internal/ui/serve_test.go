package ui

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// TestServe: on the loopback alone, until the context ends, which is no failure.
func TestServe(t *testing.T) {
	t.Parallel()
	listener, err := listen(t.Context(), 0)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(listener.Addr().String(), "127.0.0.1:"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	guard := newGuard(listener.Addr().String())
	handler := guard.protect(http.NotFoundHandler())
	err = serve(ctx, listener, handler, func() error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, guard.address(), http.NoBody)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(response.Body)
		assert.Equal(t, http.StatusOK, response.StatusCode)
		assert.Contains(t, string(body), "Welcome")
		cancel()
		return errors.Join(err, response.Body.Close())
	})
	require.NoError(t, err)
	_, err = listen(t.Context(), 1)
	if err != nil { // root may listen on it
		assert.ErrorContains(t, err, "cannot listen on 127.0.0.1:1: ")
	}
}

// TestNotInTime: what takes too long is answered, with what every answer has.
func TestNotInTime(t *testing.T) {
	t.Parallel()
	slow := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	v := &visitor{T: t, guard: newGuard("127.0.0.1:8001")}
	v.handler = v.guard.protect(inTime(slow, time.Millisecond))
	code, body := v.get("/")
	assert.Equal(t, http.StatusServiceUnavailable, code)
	assert.Contains(t, body, "has not answered in time")
}

// TestServeEnds: with what kept it from telling where it is.
func TestServeEnds(t *testing.T) {
	t.Parallel()
	listener, err := listen(t.Context(), 0)
	require.NoError(t, err)
	gone := errors.New("the client is gone")
	require.ErrorIs(t, serve(t.Context(), listener, http.NotFoundHandler(), func() error { return gone }), gone)
	require.ErrorContains(t, serve(t.Context(), listener, http.NotFoundHandler(), func() error { return nil }), "cannot serve")
}

// TestOpen: the token is in a file of the user's own, never among the arguments of a
// process, which everybody sees.
func TestOpen(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	guard := newGuard("127.0.0.1:8001")
	var opened string
	c := &command{show: func(_ context.Context, file string) error {
		opened = file
		assert.NotContains(t, file, guard.token)
		info, err := os.Stat(file)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Contains(t, string(text), `content="0; url=`+guard.address()+`"`)
		return nil
	}}
	require.NoError(t, c.openBrowser(ctx, guard.address()))
	cancel()
	require.Eventually(t, func() bool { _, err := os.Stat(opened); return os.IsNotExist(err) }, patience, patience/1000)
}

// TestAnnounce: the address alone is on standard output; who has no browser is told to
// open it himself.
func TestAnnounce(t *testing.T) {
	t.Parallel()
	streams, _, out, told := genericiooptions.NewTestIOStreams()
	c := &command{env: cli.NewEnv(streams), open: true, show: func(context.Context, string) error { return errors.New("no browser") }}
	guard := newGuard("127.0.0.1:8001")
	require.NoError(t, c.announce(t.Context(), "shop", guard))
	assert.Equal(t, guard.address()+"\n", out.String())
	assert.Contains(t, told.String(), "namespace shop")
	assert.Contains(t, told.String(), "cannot open a browser: no browser; open the address yourself")
	assert.NotContains(t, told.String(), guard.token)
}
