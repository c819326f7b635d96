package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"

	"github.com/defaultplan/defaultplan/e2e/bench/catalog"
	"github.com/defaultplan/defaultplan/e2e/bench/measure"
	"github.com/defaultplan/defaultplan/e2e/bench/rawhook"
	"github.com/defaultplan/defaultplan/e2e/bench/review"
	"github.com/defaultplan/defaultplan/webhook"
)

const (
	// creators create at the same time.
	creators = 8

	namedGoal    = 95
	byTypeGoal   = 90
	latencyGoal  = 1.3
	latencyBatch = 20
)

// measureCreates compares the rate of creating instances through the API server in a namespace
// with our hooks and in one with raw hooks that answer the same patch: what an API server takes for
// a patch, no hook can save. Beside them is told what a patch costs.
func measureCreates(ctx context.Context, b *bench) error {
	return onSite(ctx, b, func(s *site) error {
		chosen := &catalog.Family{Name: "mysql", Plans: catalog.PlansPerFamily, Schema: true}
		suggested := &catalog.Family{Name: catalog.SuggestedFamily, Plans: catalog.PlansPerFamily, Schema: true, Suggested: true}
		for _, f := range []*catalog.Family{chosen, suggested} {
			if err := s.inventory.stock(ctx, f); err != nil {
				return err
			}
		}
		if err := s.teach(ctx, review.Named(chosen)); err != nil {
			return err
		}
		if err := s.divide(ctx); err != nil {
			return err
		}
		p, err := newPoster(s, "creates")
		if err != nil {
			return err
		}
		size := b.size.creates
		for _, c := range []creation{
			{measure.Row{What: "create by a named plan, rate", Bound: measure.AtLeast, Goal: namedGoal}, review.Named(chosen), review.Namespace, patchingNamespace, size.pairs},
			{measure.Row{What: "create by a recorded type, rate", Bound: measure.AtLeast, Goal: byTypeGoal}, review.ByType(chosen), review.Namespace, patchingNamespace, size.pairs},
			{measure.Row{What: "create by a suggested type, rate", Bound: measure.AtLeast, Goal: byTypeGoal}, review.ByType(suggested), review.Namespace, patchingNamespace, size.pairs},
			{measure.Row{What: "  raw hooks that patch, beside raw hooks that do not"}, review.Named(chosen), patchingNamespace, rawNamespace, size.pairs},
		} {
			if err := s.teach(ctx, c.asked); err != nil {
				return err
			}
			if err := c.measure(ctx, b, p); err != nil {
				return err
			}
		}
		return p.compareLatency(ctx, b, chosen)
	})
}

// compareLatency compares how long a create by type takes with one by name, one after the other.
func (p *poster) compareLatency(ctx context.Context, b *bench, f *catalog.Family) error {
	c, err := measure.Compare(ctx, b.rounds(b.size.creates.pairs), p.latency(review.ByType(f)), p.latency(review.Named(f)))
	if err != nil {
		return err
	}
	b.table.Add(measure.Row{
		What: "p50 of a create by type, beside one by name", Value: c.Ratio, Unit: "×", Bound: measure.AtMost, Goal: latencyGoal,
		Detail: fmt.Sprintf("%.1f ms against %.1f ms, of batches of %d, one after the other; %s", c.Subject, c.Base, latencyBatch, c.Spread()),
	})
	return nil
}

// latency is a batch that gives the median time of a create, in milliseconds.
func (p *poster) latency(asked review.Spec) measure.Batch {
	return func(ctx context.Context) (float64, error) {
		taken, err := p.timed(ctx, review.Namespace, asked, latencyBatch)
		return measure.Quantile(taken, .5), err
	}
}

// timed creates instances one after the other, and returns how long each took, in milliseconds.
func (p *poster) timed(ctx context.Context, namespace string, asked review.Spec, count int) ([]float64, error) {
	taken := make([]float64, 0, count)
	for range count {
		began := time.Now()
		if err := p.create(ctx, namespace, asked); err != nil {
			return nil, err
		}
		taken = append(taken, milliseconds(time.Since(began)))
	}
	return taken, nil
}

// teach has the raw hook answer the patch that our hook gives.
func (s *site) teach(ctx context.Context, asked review.Spec) error {
	body, err := review.OfInstance(review.Manifest(review.Namespace, "taught", asked, review.UserParameters))
	if err != nil {
		return err
	}
	c := review.NewClient(s.caBundle)
	answer, err := c.Post(ctx, s.WebhookURL(webhook.MutateInstances), body)
	if err != nil {
		return err
	}
	patch, err := review.PatchOf(answer)
	if err != nil {
		return err
	}
	_, err = c.Post(ctx, s.rawURL+rawhook.LearnPath, patch)
	return err
}

// A creation is one comparison of rates.
type creation struct {
	row   measure.Row
	asked review.Spec
	// in is the namespace of the hooks that are measured, beside that of those
	// which they are compared with.
	in, beside string
	pairs      int
}

func (c *creation) measure(ctx context.Context, b *bench, p *poster) error {
	var ours, theirs []measure.Usage
	compared, err := measure.Compare(ctx, b.rounds(c.pairs), p.creating(c.in, c.asked, b.size.creates.batch, &ours), p.creating(c.beside, c.asked, b.size.creates.batch, &theirs))
	if err != nil {
		return err
	}
	c.row.Value, c.row.Unit = 100*compared.Ratio, "%"
	one, other := measure.Median(ours), measure.Median(theirs)
	c.row.Detail = fmt.Sprintf("%.0f/s against %.0f/s, %d clients; %s; processor time of one create %.2f × (%s; against %s)",
		compared.Subject, compared.Base, creators, compared.Spread(), one.Total().Seconds()/other.Total().Seconds(), one.Words(inMicroseconds), other.Words(inMicroseconds))
	b.table.Add(c.row)
	return nil
}

// A poster creates instances with as little work of its own as can be: it shares
// the machine with what it measures.
type poster struct {
	http *http.Client
	host string
	// prefix is that of the names, which parts that share a site may not share.
	prefix string
	made   atomic.Int64
	// pid is the id of a process of the site.
	pid func(string) (int, error)
}

func newPoster(s *site, prefix string) (*poster, error) {
	config := s.RESTConfig()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client: %w", err)
	}
	return &poster{http: client, host: config.Host, prefix: prefix, pid: s.Pid}, nil
}

// servers are the processes that have work with a create.
var servers = []string{controlPlaneProcess, webhookProcess, rawProcess}

// creating is a batch that gives the creates per second. Beside that it appends
// the processor time of one create to costs.
func (p *poster) creating(namespace string, asked review.Spec, count int, costs *[]measure.Usage) measure.Batch {
	return func(ctx context.Context) (float64, error) {
		before, err := measure.UsedBy(p.pid, servers...)
		if err != nil {
			return 0, err //nolint:wrapcheck // it is our own
		}
		start := time.Now()
		group, ctx := errgroup.WithContext(ctx)
		for range creators {
			group.Go(func() error {
				for range count / creators {
					if err := p.create(ctx, namespace, asked); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return 0, err //nolint:wrapcheck // it is our own
		}
		rate := float64(count) / time.Since(start).Seconds()
		after, err := measure.UsedBy(p.pid, servers...)
		if err != nil {
			return 0, err //nolint:wrapcheck // it is our own
		}
		*costs = append(*costs, after.Since(before).Each(count))
		return rate, nil
	}
}

// create creates one instance with a name that no other has.
func (p *poster) create(ctx context.Context, namespace string, asked review.Spec) error {
	name := fmt.Sprintf("%s-%d", p.prefix, p.made.Add(1))
	url := fmt.Sprintf("%s/apis/servicecatalog.k8s.io/v1beta1/namespaces/%s/serviceinstances", p.host, namespace)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(review.Manifest(namespace, name, asked, review.UserParameters)))
	if err != nil {
		return fmt.Errorf("cannot make a request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := p.http.Do(request)
	if err != nil {
		return fmt.Errorf("cannot reach the API server: %w", err)
	}
	if response.StatusCode != http.StatusCreated {
		answer, readErr := io.ReadAll(response.Body)
		return errors.Join(fmt.Errorf("the API server answers %d: %s", response.StatusCode, answer), readErr, response.Body.Close())
	}
	_, err = io.Copy(io.Discard, response.Body)
	return errors.Join(err, response.Body.Close())
}
