package races_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/env"
)

// samplePeriod leaves the machine to the race.
const samplePeriod = 20 * time.Millisecond

// A sampler asks over and over what a new instance gets that names only the type.
type sampler struct {
	contest *contest

	mu      sync.Mutex
	samples []attempt
	// judged counts those that were held against the history, by whether they
	// got a plan.
	decided, turnedAway int
}

// startSampler starts a sampler, which ends with the test.
func startSampler(c *contest) *sampler {
	c.Helper()
	s := &sampler{contest: c}
	ctx, cancel := context.WithCancel(c.Context())
	var done sync.WaitGroup
	done.Go(func() { s.run(ctx) })
	c.Cleanup(func() {
		cancel()
		done.Wait()
	})
	return s
}

func (s *sampler) run(ctx context.Context) {
	ticker := time.NewTicker(samplePeriod)
	defer ticker.Stop()
	for ctx.Err() == nil {
		probe := s.contest.Instance("probe", env.OfType(s.contest.kind))
		asked := s.contest.attempt(attempt{}, func() error { return s.contest.Client().Create(ctx, probe, client.DryRunAll) })
		asked.plan = env.PlanOf(probe)
		s.mu.Lock()
		s.samples = append(s.samples, asked)
		s.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// judge checks the answers that the history covers against it: each request
// that got a plan got one that was the default in between, and none was refused
// while one was recorded all the time.
func (s *sampler) judge() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var later []attempt
	for _, asked := range s.samples {
		switch {
		case asked.to > s.contest.history.from:
			later = append(later, asked)
		case asked.err == nil:
			s.decided++
			if err := s.agrees(asked); err != nil {
				return err
			}
		case apierrors.IsInvalid(asked.err):
			s.turnedAway++
			if err := s.excuses(asked); err != nil {
				return err
			}
		default:
			if came, err := asked.outcome(); came != unheard {
				return fmt.Errorf("an instance is neither decided nor refused: %w", err)
			}
		}
	}
	s.samples = later
	return nil
}

func (s *sampler) agrees(asked attempt) error {
	then := s.contest.history.during(asked.from, asked.to)
	for _, m := range then {
		if m.plan == asked.plan {
			return nil
		}
	}
	return fmt.Errorf("an instance got plan %q between revisions %d and %d, when it was never the default: %+v", asked.plan, asked.from, asked.to, then)
}

func (s *sampler) excuses(asked attempt) error {
	then := s.contest.history.during(asked.from, asked.to)
	for _, m := range then {
		if !m.recorded {
			return nil
		}
	}
	return fmt.Errorf("an instance was refused between revisions %d and %d, when a default was recorded all the time: %w: %+v", asked.from, asked.to, asked.err, then)
}
