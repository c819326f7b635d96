package watchfreshness

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"
)

type answering struct{ status int }

// RoundTrip sends three bytes.
func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a.status, Body: io.NopCloser(strings.NewReader("abc"))}, nil
}

// What is heard on a watch is noted when it is read; lists and refusals are no news of
// a watch.
func TestOfWatches(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, path string
		status       int
		want         string
	}{
		"Watch":   {reason: "A watch is what keeps a cache.", path: "/apis/servicecatalog.k8s.io/v1beta1/serviceinstances?watch=true", status: 200, want: "serviceinstances"},
		"InOne":   {reason: "A name of a namespace is no label.", path: "/api/v1/namespaces/mine/secrets?watch=true&resourceVersion=1", status: 200, want: "secrets"},
		"List":    {reason: "A list is answered once.", path: "/api/v1/namespaces", status: 200},
		"Refused": {reason: "A refusal is no news.", path: "/api/v1/namespaces?watch=true", status: 403},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			heard := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "heard", Help: "What lastHeard is."}, []string{"resource"})
			clock := clocktesting.NewFakePassiveClock(time.UnixMilli(500))
			tripper := &transport{next: answering{tc.status}, times: &times{now: clock.Now, metric: heard}}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://host"+tc.path, http.NoBody)
			require.NoError(t, err)
			response, err := tripper.RoundTrip(request)
			require.NoError(t, err)
			if tc.want != "" {
				assert.InDelta(t, 0.5, testutil.ToFloat64(heard.WithLabelValues(tc.want)), 0, "a watch that begins is heard of")
			}
			clock.SetTime(time.UnixMilli(1500))
			_, watched := tripper.times.heard[tc.want]
			assert.Equal(t, tc.want != "", watched, tc.reason)
			text, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			assert.Equal(t, "abc", string(text))
			assert.Empty(t, tripper.times.heard, "a watch that ended is not heard of")
			if tc.want == "" {
				assert.Zero(t, testutil.CollectAndCount(heard), tc.reason)
				return
			}
			assert.InDelta(t, 1.5, testutil.ToFloat64(heard.WithLabelValues(tc.want)), 0, tc.reason)
		})
	}
}

// TestInitialList: a watch that sends its initial list is not heard of until the end of the list,
// wherever that is split.
func TestInitialList(t *testing.T) {
	t.Parallel()
	const bookmark = `{"type":"BOOKMARK","object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}}` + "\n"
	// What a tenant writes into an object does not end the list.
	forged := `{"type":"ADDED","object":{"spec":{"parameters":` + strings.TrimSpace(bookmark) + `},"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}}` + "\n"
	list := strings.Repeat(forged, 3) + `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"1"}}}` + "\n" + forged
	for split := range len(bookmark) {
		clock := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
		watched := &times{now: clock.Now, metric: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "heard", Help: "What lastHeard is."}, []string{"resource"})}
		parts := []string{list, bookmark[:split], bookmark[split:]}
		body := &sending{parts: parts}
		tripper := &transport{next: body, times: watched}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://host/api/v1/namespaces?watch=true&sendInitialEvents=true", http.NoBody)
		require.NoError(t, err)
		response, err := tripper.RoundTrip(request)
		require.NoError(t, err)
		assert.Empty(t, watched.heard, "it has sent nothing")
		buffer, all := make([]byte, 4096), ""
		ended := strings.Index(bookmark, "-end") + len("-end")
		for i := range parts {
			n, err := response.Body.Read(buffer)
			require.NoError(t, err)
			all += string(buffer[:n])
			assert.Equal(t, i == 2 || i == 1 && split >= ended, len(watched.heard) == 1, "part %d of a bookmark split at %d", i, split)
		}
		assert.Equal(t, list+bookmark, all, "what is read is unchanged")
		assert.InDelta(t, 1000, testutil.ToFloat64(watched.metric.WithLabelValues("namespaces")), 0, "the metric tells of all that came")
		require.NoError(t, response.Body.Close())
	}
}

// sending is a server whose answer comes in parts.
type sending struct{ parts []string }

func (s *sending) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: s}, nil
}

func (s *sending) Read(buffer []byte) (int, error) {
	n := copy(buffer, s.parts[0])
	s.parts = s.parts[1:]
	return n, nil
}

func (s *sending) Close() error { return nil }

// All resources count, each with the time that is allowed for it.
func TestWithin(t *testing.T) {
	t.Parallel()
	clock := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	watched := &times{now: clock.Now, metric: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "heard", Help: "What lastHeard is."}, []string{"resource"})}
	allowed := map[string]time.Duration{"leases": 10 * time.Second, "plans": 130 * time.Second}
	assert.False(t, watched.within(allowed), "nothing is watched")
	plans, leases := &stream{resource: "plans"}, &stream{resource: "leases"}
	watched.hear(plans)
	assert.False(t, watched.within(allowed), "the Lease is not watched")
	watched.hear(leases)
	assert.True(t, watched.within(allowed))
	clock.SetTime(time.Unix(1010, 0))
	assert.True(t, watched.within(allowed), "both are within their times")
	clock.SetTime(time.Unix(1011, 0))
	assert.False(t, watched.within(allowed), "the Lease was not renewed")
	clock.SetTime(time.Unix(1131, 0))
	watched.hear(leases)
	assert.False(t, watched.within(allowed), "the plans' watch is silent")
	watched.hear(plans)
	assert.True(t, watched.within(allowed))
	again := &stream{resource: "plans"}
	watched.hear(again)
	watched.forget(plans)
	assert.True(t, watched.within(allowed), "the former watch ends after the next one began")
	watched.forget(again)
	assert.False(t, watched.within(allowed), "no watch of plans is left")
}
