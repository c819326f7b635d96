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
	manyPlansGoal = 1.1
	memoryGoal    = 300
)

// measurePlans compares what a choice costs among many plans and among few, in
// two processes that each hold a catalog.
func measurePlans(ctx context.Context, b *bench) error {
	var few, many servant
	group, starting := errgroup.WithContext(ctx)
	group.Go(func() error { return few.start(ctx, b.size.plans.few) })
	group.Go(func() error { return many.start(ctx, b.size.plans.many) })
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
	size := b.size.plans
	for _, way := range []holder.Way{holder.WayType, holder.WayClass, holder.WayNamed} {
		var last holder.Cost
		c, err := measure.Compare(ctx, b.rounds(size.pairs), many.admitting(way, size.batch, &last), few.admitting(way, size.batch, new(holder.Cost)))
		if err != nil {
			return err
		}
		b.table.Add(measure.Row{
			What: fmt.Sprintf("choose by %s among %d plans", way, size.many), Value: c.Ratio, Unit: "×", Bound: measure.AtMost, Goal: manyPlansGoal,
			Detail: fmt.Sprintf("%.0f µs against %.0f µs among %d, without network; %s", c.Subject, c.Base, size.few, c.Spread()),
		})
		b.table.Add(measure.Row{What: "  allocations of one such review", Value: last.Allocations, Detail: fmt.Sprintf("%.0f KB", last.Bytes/1024)})
	}
	b.table.Add(measure.Row{
		What: fmt.Sprintf("memory of %d plans", size.many), Value: many.held.Heap, Unit: "MB", Bound: measure.AtMost, Goal: memoryGoal,
		Detail: fmt.Sprintf("on the heap, with %d classes and types and all indexes; the process grew by %.0f MB", size.many/catalog.PlansPerFamily, many.held.Resident),
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
func (s *servant) admitting(w holder.Way, count int, last *holder.Cost) measure.Batch {
	return func(context.Context) (float64, error) {
		if err := json.NewEncoder(s.orders).Encode(holder.Order{Way: w, Count: count}); err != nil {
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
