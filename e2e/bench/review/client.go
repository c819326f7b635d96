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

// Reviewers is how many requests are under way to one hook: enough to keep its
// process at work. One that falls asleep after every request is measured by the
// price of waking up, which is the same for all hooks, or by what else runs on
// the machine.
const Reviewers = 16

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
			MaxIdleConnsPerHost: Reviewers,
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

// postAll has each reviewer send what it is given, so often that there are n rounds in all.
func postAll(ctx context.Context, n int, post func(ctx context.Context, reviewer int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for reviewer := range Reviewers {
		group.Go(func() error {
			for range n / Reviewers {
				if err := post(ctx, reviewer); err != nil {
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
	return h.costs(n, func(ctx context.Context, _ int) error {
		_, err := h.Client.Post(ctx, h.URL, body)
		return err
	})
}

// Both are the bodies of the two phases of one create.
type Both struct{ Mutate, Validate []byte }

// ReviewingBoth is a batch of n creates: each reviewer sends a body of its own to h, and then the other
// one to a hook of the same server for the other phase. It gives the processor time for both.
func (h Hook) ReviewingBoth(validate Hook, bodies [Reviewers]Both, n int) measure.Batch {
	return h.costs(n, func(ctx context.Context, reviewer int) error {
		if _, err := h.Client.Post(ctx, h.URL, bodies[reviewer].Mutate); err != nil {
			return err
		}
		_, err := validate.Client.Post(ctx, validate.URL, bodies[reviewer].Validate)
		return err
	})
}

// costs is a batch of n rounds that gives the processor time of the server for one of them, in
// microseconds.
func (h Hook) costs(n int, post func(ctx context.Context, reviewer int) error) measure.Batch {
	return func(ctx context.Context) (float64, error) {
		before, err := measure.CPU(h.Pid)
		if err != nil {
			return 0, err
		}
		if err := postAll(ctx, n, post); err != nil {
			return 0, err
		}
		after, err := measure.CPU(h.Pid)
		return float64((after - before).Nanoseconds()) / 1e3 / float64(n/Reviewers*Reviewers), err
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
