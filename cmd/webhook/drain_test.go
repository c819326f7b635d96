package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	crwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/defaultplan/defaultplan/cmd/internal/daemon"
)

// What serves goes on for the time of the drain after the signal, and what leads ends
// with the signal.
func TestDrainLasts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		time   time.Duration
	}{
		"None":        {reason: "the default ends at once", time: 0},
		"FiveSeconds": {reason: "as the Deployment says", time: 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := &drain{time: tc.time}
				ctx, signal := context.WithCancel(t.Context())
				serving := d.after(ctx)
				start := time.Now()
				time.Sleep(time.Minute) // of a clock that is not the real one
				require.NoError(t, serving.Err())
				require.NoError(t, d.ready(nil))
				signal()
				synctest.Wait()
				require.Error(t, d.ready(nil))
				<-serving.Done()
				assert.Equal(t, time.Minute+tc.time, time.Since(start), tc.reason)
			})
		})
	}
}

func TestDrainIsNotNegative(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, daemon.Start("webhook", newOptions(), []string{"--drain-time=-1s"}), "--drain-time")
}

// A registry is a webhook server that only remembers what it serves.
type registry struct {
	crwebhook.Server

	handler http.Handler
}

func (r *registry) Register(_ string, handler http.Handler) { r.handler = handler }

// A connection is kept until the drain begins, and then ends with the answer: also that
// of a request that came before.
func TestDrainLetsConnectionsGo(t *testing.T) {
	t.Parallel()
	d := &drain{} // the server's context ends as soon as the drain begins
	ctx, signal := context.WithCancel(t.Context())
	serving := d.after(ctx)
	arrived, judge := make(chan struct{}), make(chan struct{})
	served := &registry{}
	(&drainedServer{Server: served, drain: d}).Register("/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			arrived <- struct{}{}
			<-judge
		}
		assert.NoError(t, r.Context().Err(), "it is judged to its end")
		assert.NoError(t, http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute)))
		if r.URL.Path == "/fail" {
			http.Error(w, "no", http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, "yes")
	}))
	server := httptest.NewUnstartedServer(served.handler)
	// controller-runtime's does the same.
	server.Config.BaseContext = func(net.Listener) context.Context { return serving }
	server.Start()
	t.Cleanup(server.Close)
	ends := func(path string) bool {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, http.NoBody)
		if !assert.NoError(t, err) {
			return false
		}
		response, err := server.Client().Do(request)
		if !assert.NoError(t, err) {
			return false
		}
		assert.NoError(t, response.Body.Close())
		return response.Close
	}
	assert.False(t, ends("/"))
	slow := make(chan bool)
	go func() { slow <- ends("/slow") }()
	<-arrived
	signal()
	<-serving.Done()
	close(judge)
	assert.True(t, <-slow, "it came before the drain")
	assert.True(t, ends("/"))
	assert.True(t, ends("/fail"))
}

// A review whose caller hung up is judged no further, until the drain begins: then every
// one is.
func TestReviewsEndWithTheirCallers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason   string
		draining bool
		want     error
		after    time.Duration
	}{
		"Serving":  {reason: "no shutdown waits for it", want: context.Canceled},
		"Draining": {reason: "the end of a context says nothing of who waits", draining: true, want: context.DeadlineExceeded, after: answerTime},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := &drain{}
				d.draining.Store(tc.draining)
				ctx, hangUp := context.WithCancel(t.Context())
				start := time.Now()
				d.letGo(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					hangUp()
					<-r.Context().Done()
					assert.ErrorIs(t, r.Context().Err(), tc.want, tc.reason)
				})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodPost, "/", http.NoBody))
				assert.Equal(t, tc.after, time.Since(start))
			})
		})
	}
}
