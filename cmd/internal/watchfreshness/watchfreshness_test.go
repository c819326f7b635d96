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
			tripper := &transport{next: answering{tc.status}, now: func() time.Time { return time.UnixMilli(1500) }, heard: heard}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://host"+tc.path, http.NoBody)
			require.NoError(t, err)
			response, err := tripper.RoundTrip(request)
			require.NoError(t, err)
			assert.Zero(t, testutil.CollectAndCount(heard), "nothing was read yet")
			text, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			assert.Equal(t, "abc", string(text))
			if tc.want == "" {
				assert.Zero(t, testutil.CollectAndCount(heard), tc.reason)
				return
			}
			assert.InDelta(t, 1.5, testutil.ToFloat64(heard.WithLabelValues(tc.want)), 0, tc.reason)
		})
	}
}
