package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/defaultplan/defaultplan/e2e/bench/audit"
	"github.com/defaultplan/defaultplan/e2e/bench/measure"
)

const (
	restRequestsGoal = 20 // a second
	restCPUGoal      = 3  // % of a core
)

// measureRest measures what webhook, keeper and controller do while nothing happens.
func measureRest(ctx context.Context, b *bench) error {
	return onStore(ctx, b, func(s *store) error {
		size := b.size.rest
		if err := s.fill(ctx, size.instances, size.bindings); err != nil {
			return err
		}
		if err := s.controller.Start(ctx); err != nil {
			return err //nolint:wrapcheck // it says what failed
		}
		// What the first look at all of them writes would show that the copies are not at rest.
		settled, err := s.watchRest(ctx, size.settle)
		if err != nil {
			return err
		}
		w, err := s.watchRest(ctx, size.window)
		if err != nil {
			return err
		}
		if err := w.atWork(); err != nil {
			return err
		}
		seconds := w.took.Seconds()
		b.table.Add(measure.Row{
			What: fmt.Sprintf("at rest, %d instances and %d bindings: requests", size.instances, size.bindings), Value: w.requests.Count(audit.All) / seconds, Unit: "/s",
			Bound: measure.AtMost, Goal: restRequestsGoal, Detail: fmt.Sprintf("of webhook, keeper and controller in %.0f s, copies of one that became Ready; %s", seconds, w.requests.Per(seconds)),
		})
		b.table.Add(measure.Row{
			What: "  processor time of all three", Value: 100 * w.cpu.Total().Seconds() / seconds, Unit: "%", Bound: measure.AtMost, Goal: restCPUGoal, Detail: "of one core: " + shares(w.cpu, w.took),
		})
		b.table.Add(measure.Row{
			What: "  writes but those of Leases", Value: w.requests.Count(audit.Key.Stores), Bound: measure.AtMost, Goal: 0,
			Detail: fmt.Sprintf("%.0f in the %.0f s before, after the controller started", settled.requests.Count(audit.Key.Stores), settled.took.Seconds()),
		})
		return nil
	})
}

// ourProcesses are those that a cluster has for us.
var ourProcesses = []string{webhookProcess, keeperProcess, controllerProcess}

// A quietTime is what our processes did in a while.
type quietTime struct {
	took     time.Duration
	cpu      measure.Usage
	requests audit.Requests
}

// atWork says whether keeper and controller were there: both renew their Leases, and within minutes
// the controller looks at the Secrets of its bindings.
func (q *quietTime) atWork() error {
	signs := []audit.Key{{User: "keeper", Verb: "update", Resource: "leases"}, {User: "controller", Verb: "update", Resource: "leases"}}
	if q.took > time.Minute {
		signs = append(signs, audit.Key{User: "controller", Verb: "get", Resource: "secrets"})
	}
	for _, sign := range signs {
		if q.requests[sign] == 0 {
			return fmt.Errorf("in %s the %s did not %s %s: it was not at work", q.took, sign.User, sign.Verb, sign.Resource)
		}
	}
	return nil
}

// shares are those of one core that each process took.
func shares(used measure.Usage, took time.Duration) string {
	return used.Words(func(each time.Duration) string { return fmt.Sprintf("%.2f %%", 100*each.Seconds()/took.Seconds()) })
}

// watchRest waits, and says what our processes did meanwhile.
func (s *store) watchRest(ctx context.Context, length time.Duration) (*quietTime, error) {
	logged, err := os.Stat(s.auditLog)
	if err != nil {
		return nil, fmt.Errorf("cannot read the audit log: %w", err)
	}
	before, err := measure.UsedBy(s.Pid, ourProcesses...)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := pause(ctx, length); err != nil {
		return nil, err
	}
	q := &quietTime{took: time.Since(began)}
	now, err := measure.UsedBy(s.Pid, ourProcesses...)
	if err != nil {
		return nil, err
	}
	q.cpu = now.Since(before)
	q.requests, err = audit.Since(s.auditLog, logged.Size())
	return q, err
}
