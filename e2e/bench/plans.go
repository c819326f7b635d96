package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/defaultplan/defaultplan/e2e/bench/catalog"
	"github.com/defaultplan/defaultplan/e2e/bench/holder"
	"github.com/defaultplan/defaultplan/e2e/bench/measure"
)

const (
	fewPlans  = 100
	manyPlans = 100_000

	planPairs = 60
	planBatch = 300

	manyPlansGoal = 1.1
	memoryGoal    = 300
)

// measurePlans compares what a choice costs among many plans and among few, in
// two processes that each hold a catalog.
func measurePlans(ctx context.Context, b *bench) error {
	var few, many servant
	group, starting := errgroup.WithContext(ctx)
	group.Go(func() error { return few.start(ctx, fewPlans) })
	group.Go(func() error { return many.start(ctx, manyPlans) })
	err := group.Wait()
	if err == nil {
		err = starting.Err()
	}
	if ctx.Err() == nil && few.held != nil && many.held != nil {
		err = b.comparePlans(ctx, &few, &many)
	}
	return errors.Join(err, few.stop(), many.stop())
}

func (b *bench) comparePlans(ctx context.Context, few, many *servant) error {
	for _, w := range []struct {
		way   holder.Way
		bound measure.Bound
	}{{holder.WayType, measure.AtMost}, {holder.WayClass, measure.AtMost}, {holder.WayNamed, measure.Told}} {
		var last holder.Cost
		c, err := measure.Compare(ctx, b.rounds(planPairs), many.admitting(w.way, &last), few.admitting(w.way, new(holder.Cost)))
		if err != nil {
			return err
		}
		b.table.Add(measure.Row{
			What: fmt.Sprintf("choose by %s among %d plans", w.way, manyPlans), Value: c.Ratio, Unit: "×", Bound: w.bound, Goal: manyPlansGoal,
			Detail: fmt.Sprintf("%.0f µs against %.0f µs among %d, without network; %s", c.Subject, c.Base, fewPlans, c.Spread()),
		})
		b.table.Add(measure.Row{What: "  allocations of one such review", Value: last.Allocations, Detail: fmt.Sprintf("%.0f KB", last.Bytes/1024)})
	}
	b.table.Add(measure.Row{
		What: fmt.Sprintf("memory of %d plans", manyPlans), Value: many.held.Heap, Unit: "MB", Bound: measure.AtMost, Goal: memoryGoal,
		Detail: fmt.Sprintf("on the heap, with %d classes and types and all indexes; the process grew by %.0f MB", manyPlans/catalog.PlansPerFamily, many.held.Resident),
	})
	return nil
}

// A servant is a process that holds a catalog.
type servant struct {
	process *exec.Cmd
	orders  io.WriteCloser
	answers *bufio.Scanner
	held    *holder.Holding
}

// start starts this program once more, and waits until it holds the plans.
func (s *servant) start(ctx context.Context, plans int) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program: %w", err)
	}
	s.process = exec.CommandContext(ctx, self, "hold", "--plans="+strconv.Itoa(plans))
	s.process.Stderr = os.Stderr
	answers, answersErr := s.process.StdoutPipe()
	orders, ordersErr := s.process.StdinPipe()
	if err := errors.Join(answersErr, ordersErr, s.process.Start()); err != nil {
		s.process = nil
		return fmt.Errorf("cannot start a process that holds plans: %w", err)
	}
	s.orders, s.answers = orders, bufio.NewScanner(answers)
	held := &holder.Holding{}
	if err := s.read(held); err != nil {
		return err
	}
	s.held = held
	return nil
}

func (s *servant) read(answer any) error {
	if !s.answers.Scan() {
		return fmt.Errorf("cannot read from the process that holds plans: it ended: %w", errors.Join(s.answers.Err(), io.ErrUnexpectedEOF))
	}
	if err := json.Unmarshal(s.answers.Bytes(), answer); err != nil {
		return fmt.Errorf("cannot read from the process that holds plans: %w", err)
	}
	return nil
}

// admitting is a batch that gives the processor time of one admission, in
// microseconds; last is told all of its cost.
func (s *servant) admitting(w holder.Way, last *holder.Cost) measure.Batch {
	return func(context.Context) (float64, error) {
		if err := json.NewEncoder(s.orders).Encode(holder.Order{Way: w, Count: planBatch}); err != nil {
			return 0, fmt.Errorf("cannot order from the process that holds plans: %w", err)
		}
		err := s.read(last)
		return last.Microseconds, err
	}
}

// stop ends the process by ending its orders.
func (s *servant) stop() error {
	if s.process == nil {
		return nil
	}
	if err := errors.Join(s.orders.Close(), s.process.Wait()); err != nil {
		return fmt.Errorf("cannot end the process that holds plans: %w", err)
	}
	return nil
}
