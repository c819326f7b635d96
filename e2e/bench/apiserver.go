package main

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/defaultplan/defaultplan/e2e/bench/catalog"
	"github.com/defaultplan/defaultplan/e2e/bench/measure"
	"github.com/defaultplan/defaultplan/e2e/bench/review"
)

// measureThroughAPIServer starts the webhook on a real catalog. It has no goals:
// it tells what the numbers without an API server mean.
func measureThroughAPIServer(ctx context.Context, b *bench) error {
	return onSite(ctx, b, func(s *site) error {
		families := make([]*catalog.Family, b.size.apiserver.plans/catalog.PlansPerFamily)
		for i := range families {
			families[i] = &catalog.Family{Name: fmt.Sprintf("family-%d", i), Plans: catalog.PlansPerFamily, Schema: true}
		}
		families[len(families)-1].Suggested = true
		empty, err := s.webhookMemory(measure.ResidentNow)
		if err != nil {
			return err
		}
		if err := s.inventory.stockAll(ctx, families); err != nil {
			return err
		}
		if err := s.StopWebhook(ctx, 0, syscall.SIGTERM); err != nil {
			return err
		}
		start := time.Now()
		if err := s.StartWebhook(ctx, 0); err != nil {
			return err
		}
		ready := time.Since(start)
		if err := s.tellStart(b, ready, empty); err != nil {
			return err
		}
		if err := s.tellCreates(ctx, b, families, "just after the start"); err != nil {
			return err
		}
		// A webhook that has heard nothing but bookmarks and the keeper's Lease for a while still knows
		// its cache to be current.
		if err := pause(ctx, b.size.apiserver.quiet); err != nil {
			return err
		}
		return s.tellCreates(ctx, b, families, fmt.Sprintf("after %s without writes", b.size.apiserver.quiet))
	})
}

func (s *site) webhookMemory(line string) (float64, error) {
	pid, err := s.Pid(webhookProcess)
	if err != nil {
		return 0, err
	}
	return measure.Memory(pid, line)
}

func (s *site) tellStart(b *bench, ready time.Duration, empty float64) error {
	now, err := s.webhookMemory(measure.ResidentNow)
	if err != nil {
		return err
	}
	peak, err := s.webhookMemory(measure.ResidentPeak)
	if err != nil {
		return err
	}
	b.table.Add(measure.Row{
		What: fmt.Sprintf("start with %d stored plans", b.size.apiserver.plans), Value: ready.Seconds(), Unit: "s",
		Detail: fmt.Sprintf("until ready; the process has %.0f MB, at most %.0f MB, and %.0f MB without a catalog", now, peak, empty),
	})
	return nil
}

// tellCreates tells how long one create takes, each way, with nothing else going
// on.
func (s *site) tellCreates(ctx context.Context, b *bench, families []*catalog.Family, when string) error {
	p, err := newPoster(s, fmt.Sprintf("apiserver-%d", len(when)))
	if err != nil {
		return err
	}
	first, last := families[0], families[len(families)-1]
	for _, asked := range []struct {
		what string
		spec review.Spec
	}{
		{"a named plan", review.Named(first)},
		{"a recorded type", review.ByType(first)},
		{"a class", review.ByClass(first)},
		{"a suggested type", review.ByType(last)},
	} {
		tries := b.size.apiserver.tries
		took, err := p.timed(ctx, review.Namespace, asked.spec, tries)
		if err != nil {
			return err
		}
		b.table.Add(measure.Row{
			What: "  one create by " + asked.what + " " + when, Value: measure.Quantile(took, .5), Unit: "ms",
			Detail: fmt.Sprintf("median of %d, the slowest %.1f ms", tries, measure.Quantile(took, 1)),
		})
	}
	return nil
}
