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

	"github.com/defaultplan/defaultplan/webhook"
)

const (
	// creators create at the same time, in createPairs pairs of batches.
	creators    = 8
	createPairs = 21
	createBatch = 160
	// suggestedPairs is less: it is slow, and only told.
	suggestedPairs = 5

	namedGoal  = 95
	byTypeGoal = 80
)

// measureCreates compares the rate of creating instances through the API server,
// in a namespace with our hooks and in one with the raw hooks. Beside them is
// told how our hooks compare with raw ones that only answer the patch which ours
// once gave: what an API server takes for a patch, no hook can save.
func measureCreates(ctx context.Context, b *bench) error {
	return b.onSite(ctx, func(s *site) error {
		chosen := &family{name: "mysql", plans: plansPerFamily, schema: true}
		suggested := &family{name: suggestedFamily, plans: plansPerFamily, schema: true, suggested: true}
		for _, f := range []*family{chosen, suggested} {
			if err := s.stock(ctx, f); err != nil {
				return err
			}
		}
		if err := s.teach(ctx, named(chosen)); err != nil {
			return err
		}
		if err := s.divide(ctx); err != nil {
			return err
		}
		p, err := newPoster(s)
		if err != nil {
			return err
		}
		for _, c := range []creation{
			{row{what: "create by a named plan, rate", bound: atLeast, goal: namedGoal}, named(chosen), oursNamespace, rawNamespace, createPairs},
			{row{what: "  beside raw hooks that patch"}, named(chosen), oursNamespace, patchingNamespace, createPairs},
			{row{what: "  those beside raw hooks that do not"}, named(chosen), patchingNamespace, rawNamespace, createPairs},
			{row{what: "create by a recorded type, rate", bound: atLeast, goal: byTypeGoal}, byType(chosen), oursNamespace, rawNamespace, createPairs},
			{row{what: "create by a suggested type, rate"}, byType(suggested), oursNamespace, rawNamespace, suggestedPairs},
		} {
			if err := c.measure(ctx, b, p); err != nil {
				return err
			}
		}
		return nil
	})
}

// teach has the raw hook answer the patch that our hook gives.
func (s *site) teach(ctx context.Context, asked spec) error {
	body, err := review(manifest(oursNamespace, "taught", asked, userParameters))
	if err != nil {
		return err
	}
	c := newHookClient(s.caBundle)
	answer, err := c.post(ctx, s.WebhookURL(webhook.MutateInstances), body)
	if err != nil {
		return err
	}
	patch, err := patchOf(answer)
	if err != nil {
		return err
	}
	_, err = c.post(ctx, s.rawURL+rawLearnPath, patch)
	return err
}

// A creation is one comparison of rates.
type creation struct {
	row   row
	asked spec
	// in is the namespace of the hooks that are measured, beside that of those
	// which they are compared with.
	in, beside string
	pairs      int
}

func (c *creation) measure(ctx context.Context, b *bench, p *poster) error {
	var ours, theirs []float64
	compared, err := compare(ctx, b.rounds(c.pairs), p.creating(c.in, c.asked, &ours), p.creating(c.beside, c.asked, &theirs))
	if err != nil {
		return err
	}
	c.row.value, c.row.unit = 100*compared.ratio, "%"
	c.row.detail = fmt.Sprintf("%.0f/s against %.0f/s, %d clients; %s; processor time of API server and hooks %.2f × (%.0f µs against %.0f µs)",
		compared.subject, compared.base, creators, compared.spread(), quantile(ours, .5)/quantile(theirs, .5), quantile(ours, .5), quantile(theirs, .5))
	b.table.add(c.row)
	return nil
}

// A poster creates instances with as little work of its own as can be: it shares
// the machine with what it measures.
type poster struct {
	http *http.Client
	host string
	made atomic.Int64
	// servers are the processes that have work with a create.
	servers []int
}

func newPoster(s *site) (*poster, error) {
	config := s.RESTConfig()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client: %w", err)
	}
	p := &poster{http: client, host: config.Host}
	for _, name := range []string{controlPlaneProcess, webhookProcess, rawProcess} {
		pid, err := s.Pid(name)
		if err != nil {
			return nil, err //nolint:wrapcheck // it is our own
		}
		p.servers = append(p.servers, pid)
	}
	return p, nil
}

// work is the processor time of all servers, in microseconds.
func (p *poster) work() (float64, error) {
	var total time.Duration
	for _, pid := range p.servers {
		used, err := cpuOf(pid)
		if err != nil {
			return 0, err
		}
		total += used
	}
	return float64(total.Nanoseconds()) / 1e3, nil
}

// creating is a batch that gives the creates per second. Beside that it appends
// the processor time of one create to costs, in microseconds.
func (p *poster) creating(namespace string, asked spec, costs *[]float64) batch {
	return func(ctx context.Context) (float64, error) {
		before, err := p.work()
		if err != nil {
			return 0, err
		}
		start := time.Now()
		group, ctx := errgroup.WithContext(ctx)
		for range creators {
			group.Go(func() error {
				for range createBatch / creators {
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
		rate := createBatch / time.Since(start).Seconds()
		after, err := p.work()
		*costs = append(*costs, (after-before)/createBatch)
		return rate, err
	}
}

// create creates one instance with a name that no other has.
func (p *poster) create(ctx context.Context, namespace string, asked spec) error {
	name := fmt.Sprintf("db-%d", p.made.Add(1))
	url := fmt.Sprintf("%s/apis/servicecatalog.k8s.io/v1beta1/namespaces/%s/serviceinstances", p.host, namespace)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(manifest(namespace, name, asked, userParameters)))
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
