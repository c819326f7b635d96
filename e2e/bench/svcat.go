package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/bench/catalog"
	"github.com/defaultplan/defaultplan/e2e/bench/measure"
	"github.com/defaultplan/defaultplan/e2e/bench/simulate"
	"github.com/defaultplan/defaultplan/e2e/stack"
)

const (
	svcatWriters = 16

	// What a person waits for, in seconds.
	getPlansGoal = 2
	explainGoal  = 0.3
)

// measureSvcat tells how long a person waits for svcat in a cluster with many
// plans, beside what kubectl takes for the same list.
func measureSvcat(ctx context.Context, b *bench) error {
	return inFolder(func(dir string) (err error) {
		// No hooks: svcat reads only, and what it reads is written the faster.
		s, err := stack.Start(ctx, stack.Options{Dir: dir, Bin: b.bin})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Stop()) }() //nolint:contextcheck // it stops even if ctx ended
		if err := stockMany(ctx, s.Client(), b.size.svcat.plans); err != nil {
			return err
		}
		return b.typeThere(ctx, s)
	})
}

// stockMany creates the plans, ten of each type.
func stockMany(ctx context.Context, c client.Client, plans int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(svcatWriters)
	for i := range plans / catalog.PlansPerFamily {
		group.Go(func() error {
			f := catalog.Family{Name: fmt.Sprintf("type-%04d", i), Schema: true, Plans: catalog.PlansPerFamily}
			objects := []client.Object{f.Class(), f.Record()}
			for p := range f.Plans {
				objects = append(objects, f.Plan(p))
			}
			for _, object := range objects {
				if err := c.Create(ctx, object); err != nil {
					return fmt.Errorf("cannot create %T %q: %w", object, object.GetName(), err)
				}
			}
			return nil
		})
	}
	return group.Wait()
}

func (b *bench) typeThere(ctx context.Context, s *stack.Stack) error {
	kubectl, err := typed(ctx, s, b.size.svcat.runs, "kubectl", "get", "clusterserviceplans")
	if err != nil {
		return err
	}
	for _, one := range []struct {
		what string
		goal float64
		args []string
	}{
		{fmt.Sprintf("svcat get plans, of %d", b.size.svcat.plans), getPlansGoal, []string{"get", "plans"}},
		{fmt.Sprintf("svcat explain, of %d plans", b.size.svcat.plans), explainGoal, []string{"explain", "type-0012"}},
	} {
		t, err := typed(ctx, s, b.size.svcat.runs, "svcat", one.args...)
		if err != nil {
			return err
		}
		b.table.Add(measure.Row{
			What: one.what, Value: t.median, Unit: "s", Bound: measure.AtMost, Goal: one.goal,
			Detail: fmt.Sprintf("median of %d, from start to end of the process; %.2f × kubectl's list of them (%.2f s); at most %.0f MB resident (kubectl %.0f)",
				b.size.svcat.runs, t.median/kubectl.median, kubectl.median, t.peak, kubectl.peak),
		})
	}
	return nil
}

// measureSimulate tells what svcat simulate takes on the snapshot of a large cluster.
func measureSimulate(ctx context.Context, b *bench) error {
	return inFolder(func(dir string) error {
		rows, err := simulate.Measure(ctx, filepath.Join(b.bin, "svcat"), dir, b.size.simulate)
		for _, row := range rows {
			b.table.Add(row)
		}
		return err //nolint:wrapcheck // it is our own
	})
}

// typing is what a command cost: seconds of waiting, and megabytes of memory.
type typing struct{ median, peak float64 }

// typed runs a command a number of times.
func typed(ctx context.Context, s *stack.Stack, runs int, binary string, args ...string) (typing, error) {
	var result typing
	seconds := make([]float64, 0, runs)
	for range runs {
		cmd := exec.CommandContext(ctx, s.Binary(binary), args...)
		cmd.Env = s.Environment()
		began := time.Now()
		if text, err := cmd.CombinedOutput(); err != nil {
			return typing{}, fmt.Errorf("cannot run %s %v: %w: %.500s", binary, args, err, text)
		}
		seconds = append(seconds, time.Since(began).Seconds())
		if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			const kilobytes = 1e3
			result.peak = max(result.peak, float64(usage.Maxrss)/kilobytes)
		}
	}
	result.median = measure.Quantile(seconds, 0.5)
	return result, nil
}
