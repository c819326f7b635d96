package review

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/defaultplan/defaultplan/e2e/bench/measure"
)

// reviewers is how many requests are under way to one hook: enough to keep its
// process at work. One that falls asleep after every request is measured by the
// price of waking up, which is the same for all hooks, or by what else runs on
// the machine.
const reviewers = 16

// A Client sends reviews as an API server does: by HTTP/1.1, over
// connections that stay open.
type hookClient struct{ http *http.Client }

// NewClient is a client that trusts a CA bundle.
func NewClient(caBundle []byte) *hookClient {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(caBundle)
	return &hookClient{http: &http.Client{
		Timeout: 10 * time.Second,
		Transport: &http.Transport{
			TLSClientConfig:     &tls.Config{RootCAs: roots, NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12},
			MaxIdleConnsPerHost: reviewers,
		},
	}}
}

// Post sends one body and returns the answer.
func (c *hookClient) Post(ctx context.Context, url string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("cannot make a request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("cannot reach the hook: %w", err)
	}
	answer, readErr := io.ReadAll(response.Body)
	if err := errors.Join(readErr, response.Body.Close()); err != nil {
		return nil, fmt.Errorf("cannot read the hook's answer: %w", err)
	}
	if response.StatusCode != http.StatusOK || !bytes.Contains(answer, []byte(`"allowed":true`)) {
		return nil, fmt.Errorf("the hook answers %d: %s", response.StatusCode, answer)
	}
	return answer, nil
}

// postAll sends a body n times.
func (c *hookClient) postAll(ctx context.Context, url string, body []byte, n int) error {
	group, ctx := errgroup.WithContext(ctx)
	for range reviewers {
		group.Go(func() error {
			for range n / reviewers {
				if _, err := c.Post(ctx, url, body); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait() //nolint:wrapcheck // it is our own
}

// A Hook is one endpoint of a server process.
type Hook struct {
	Client *hookClient
	Pid    int
	URL    string
}

// Reviewing is a batch of n reviews with that body; it gives the processor time
// of the server for one of them, in microseconds.
func (h Hook) Reviewing(body []byte, n int) measure.Batch {
	return func(ctx context.Context) (float64, error) {
		before, err := measure.CPU(h.Pid)
		if err != nil {
			return 0, err
		}
		if err := h.Client.postAll(ctx, h.URL, body, n); err != nil {
			return 0, err
		}
		after, err := measure.CPU(h.Pid)
		return float64((after - before).Nanoseconds()) / 1e3 / float64(n/reviewers*reviewers), err
	}
}

// Slope is a batch of n reviews of each that gives the processor time per KB by which
// the two differ.
func (h Hook) Slope(small, large []byte, n int) measure.Batch {
	return func(ctx context.Context) (float64, error) {
		less, err := h.Reviewing(small, n)(ctx)
		if err != nil {
			return 0, err
		}
		more, err := h.Reviewing(large, n)(ctx)
		return (more - less) / (float64(len(large)-len(small)) / 1024), err
	}
}
