package metrics

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// reader has the right to read metrics, and stranger has a token only.
const reader, stranger = "reader", "stranger"

// apiServer answers what tokens are worth: each is the name of its user.
func apiServer(t *testing.T) *rest.Config {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /apis/authentication.k8s.io/v1/tokenreviews", func(w http.ResponseWriter, r *http.Request) {
		review := &authenticationv1.TokenReview{}
		assert.NoError(t, json.NewDecoder(r.Body).Decode(review))
		review.Status.Authenticated = review.Spec.Token == reader || review.Spec.Token == stranger
		review.Status.User.Username = review.Spec.Token
		reply(t, w, review)
	})
	mux.HandleFunc("POST /apis/authorization.k8s.io/v1/subjectaccessreviews", func(w http.ResponseWriter, r *http.Request) {
		review := &authorizationv1.SubjectAccessReview{}
		assert.NoError(t, json.NewDecoder(r.Body).Decode(review))
		assert.Equal(t, &authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"}, review.Spec.NonResourceAttributes)
		review.Status.Allowed = review.Spec.User == reader
		reply(t, w, review)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
}

func reply(t *testing.T, w http.ResponseWriter, review any) {
	t.Helper()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	assert.NoError(t, json.NewEncoder(w).Encode(review))
}

// serve serves metrics with these flags and returns the address.
func serve(t *testing.T, args ...string) string {
	t.Helper()
	o, flags := NewOptions(), pflag.NewFlagSet("", pflag.ContinueOnError)
	o.Bind(flags)
	require.NoError(t, flags.Parse(append(args, "--metrics-address=127.0.0.1:0")))
	options, err := o.Server()
	require.NoError(t, err)
	config := apiServer(t)
	client, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	server, err := metricsserver.NewServer(options, config, client)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- server.Start(ctx) }()
	t.Cleanup(func() { stop(); assert.NoError(t, <-ended) })
	bound := server.(interface{ GetBindAddr() string })
	require.Eventually(t, func() bool { return bound.GetBindAddr() != "" }, 10*time.Second, time.Millisecond)
	return bound.GetBindAddr()
}

// newClient is one that verifies nothing, and would speak HTTP/2.
func newClient() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}}
}

// An answer is what tests look at of a response.
type answer struct {
	status, protocol int
	retryAfter       string
}

// scrape asks for metrics with a token, if any, by a connection of its own.
func scrape(t *testing.T, url, token string) (answer, error) {
	t.Helper()
	client := newClient()
	t.Cleanup(client.CloseIdleConnections)
	return scrapeBy(t, client, url, token)
}

func scrapeBy(t *testing.T, client *http.Client, url, token string) (answer, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		return answer{}, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return answer{}, err
	}
	// Read, so that the next request can go by the same connection.
	_, err = io.Copy(io.Discard, response.Body)
	return answer{response.StatusCode, response.ProtoMajor, response.Header.Get("Retry-After")}, errors.Join(err, response.Body.Close())
}

// Metrics are read by HTTPS by who may, unless they are to be read by everyone.
func TestWhoReadsMetrics(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		args   []string
		scheme string
		token  string
		want   int
	}{
		"Reader":     {reason: "who may get the URL", scheme: "https", token: reader, want: http.StatusOK},
		"Stranger":   {reason: "to be authenticated is not enough", scheme: "https", token: stranger, want: http.StatusForbidden},
		"NoToken":    {reason: "there is no anonymous reader", scheme: "https", want: http.StatusUnauthorized},
		"WrongToken": {reason: "controller-runtime answers 500 to a token that is not valid", scheme: "https", token: "forged", want: http.StatusInternalServerError},
		"LongToken":  {reason: "it is not sent on to the API server", scheme: "https", token: strings.Repeat("a", longestToken), want: http.StatusUnauthorized},
		"PlainHTTP":  {reason: "a token is not to be sent in the clear", scheme: "http", token: reader, want: http.StatusBadRequest},
		"TurnedOff":  {reason: "the port is closed otherwise", args: []string{"--metrics-secure=false"}, scheme: "http", want: http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := scrape(t, tc.scheme+"://"+serve(t, tc.args...)+"/metrics", tc.token)
			require.NoError(t, err)
			assert.Equal(t, tc.want, got.status, tc.reason)
			assert.Equal(t, 1, got.protocol, "HTTP/2 is not offered")
		})
	}
}

// Nothing is served where the address is 0.
func TestNoMetrics(t *testing.T) {
	t.Parallel()
	o := Options{Address: "0", Secure: true}
	options, err := o.Server()
	require.NoError(t, err)
	server, err := metricsserver.NewServer(options, &rest.Config{}, http.DefaultClient)
	require.NoError(t, err)
	assert.Nil(t, server)
}

// Reviews of new tokens are limited, although the daemon's own requests are not.
func TestReviewsAreLimited(t *testing.T) {
	t.Parallel()
	address, client := serve(t), newClient()
	t.Cleanup(client.CloseIdleConnections)
	const beyond = 10
	began := time.Now()
	for i := range reviewsBurst + beyond {
		got, err := scrapeBy(t, client, "https://"+address+"/metrics", "forged-"+strconv.Itoa(i))
		require.NoError(t, err)
		assert.Equal(t, http.StatusInternalServerError, got.status)
	}
	// A lower bound: the burst is free, and the bucket refills meanwhile.
	assert.Greater(t, time.Since(began), (beyond-1)*time.Second/reviewsPerSecond)
}

// Requests beyond those that may be in flight are rejected.
func TestRequestsInFlightAreLimited(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(maxInFlight(2, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { entered <- struct{}{}; <-leave })))
	t.Cleanup(server.Close)
	answers := make(chan int, 2)
	for range 2 {
		go func() {
			got, err := scrape(t, server.URL, "")
			if assert.NoError(t, err) {
				answers <- got.status
			}
		}()
		<-entered
	}
	got, err := scrape(t, server.URL, "")
	require.NoError(t, err)
	assert.Equal(t, http.StatusTooManyRequests, got.status)
	assert.Equal(t, "1", got.retryAfter)
	close(leave)
	assert.Equal(t, []int{http.StatusOK, http.StatusOK}, []int{<-answers, <-answers})
}

// By default metrics ask for a right, and the flag names the role.
func TestFlags(t *testing.T) {
	t.Parallel()
	o, flags := NewOptions(), pflag.NewFlagSet("", pflag.ContinueOnError)
	o.Bind(flags)
	require.NoError(t, flags.Parse(nil))
	assert.Equal(t, Options{Address: ":8080", Secure: true}, o)
	assert.Contains(t, flags.Lookup("metrics-secure").Usage, "defaultplan-metrics-reader", "the role is named")
}
