package metrics

import (
	"fmt"
	"net/http"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Each unknown token costs the API server a TokenReview in the daemon's name. These limits
// keep a flood of tokens from starving the daemon's own requests, which have no limit.
const (
	reviewsPerSecond = 10
	reviewsBurst     = 20
	// requestsInFlight wait for at most 5 s together, less than the 10 s of a review.
	requestsInFlight = 50
	// longestToken is in bytes; those of ServiceAccounts have about a thousand. Longer ones
	// would be sent on to the API server.
	longestToken = 16 << 10
)

// readersOnly admits requests with a token whose user may get the path.
func readersOnly(config *rest.Config, client *http.Client) (metricsserver.Filter, error) {
	filter, err := filters.WithAuthenticationAndAuthorization(limited(config), client)
	if err != nil {
		return nil, fmt.Errorf("cannot authorize scrapes: %w", err)
	}
	return func(log logr.Logger, next http.Handler) (http.Handler, error) {
		filtered, err := filter(log, next)
		if err != nil {
			return nil, fmt.Errorf("cannot authorize scrapes: %w", err)
		}
		return shortTokens(maxInFlight(requestsInFlight, filtered)), nil
	}, nil
}

// limited is a configuration whose clients have a rate limit of their own.
func limited(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = reviewsPerSecond, reviewsBurst
	return config
}

// shortTokens answers 401 to requests with a token that is too long to be one.
func shortTokens(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header.Get("Authorization")) > longestToken {
			http.Error(w, "Unauthorized", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// maxInFlight answers 429 to requests beyond so many in flight.
func maxInFlight(limit int, next http.Handler) http.Handler {
	slots := make(chan struct{}, limit)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
			next.ServeHTTP(w, r)
		default:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests in flight", http.StatusTooManyRequests)
		}
	})
}
