package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

// A slow transport answers after a time.
type slow time.Duration

func (s slow) RoundTrip(*http.Request) (*http.Response, error) {
	time.Sleep(time.Duration(s))
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

func TestPatience(t *testing.T) {
	t.Parallel()
	const told = "waiting for the API server at api.example:6443 …\n"
	cases := map[string]struct {
		reason string
		takes  time.Duration
		paths  []string
		want   string
	}{
		"Quick": {reason: "there is nothing to say", takes: time.Second, paths: []string{"/a", "/b"}},
		"Slow":  {reason: "users see what it waits for", takes: time.Minute, paths: []string{"/a"}, want: told},
		"Twice": {reason: "it is said once", takes: time.Minute, paths: []string{"/a", "/b"}, want: told},
		"Watch": {reason: "a watch waits because it was asked to", takes: time.Minute, paths: []string{"/a?watch=true", "/a?watch=1"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				config := &rest.Config{}
				(&slowRequests{out: &out}).wrap(config)
				transport := config.WrapTransport(slow(tc.takes))
				for _, path := range tc.paths {
					response, err := transport.RoundTrip(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.example:6443"+path, nil))
					require.NoError(t, err)
					require.NoError(t, response.Body.Close())
					assert.Equal(t, http.StatusOK, response.StatusCode)
				}
				synctest.Wait()
				assert.Equal(t, tc.want, out.String(), tc.reason)
			})
		})
	}
}
