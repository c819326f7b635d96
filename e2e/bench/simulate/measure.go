package simulate

import (
	"context"
	"fmt"

	"github.com/defaultplan/defaultplan/e2e/bench/measure"
)

// The goals: seconds of processor time, and megabytes of memory.
const (
	timeGoal   = 3
	memoryGoal = 300
)

// A Size says how large the cluster is. It has as many instances as plans.
type Size struct {
	// Services have PlansEach, of which the new catalog changes Changed.
	Services, PlansEach, Changed int
	Runs                         int
}

// Measure runs svcat on a snapshot that it writes into a folder, and has it switch a default, add a
// policy, and take a catalog over.
func Measure(ctx context.Context, svcat, dir string, size Size) ([]measure.Row, error) {
	made, err := write(ctx, dir, size)
	if err != nil {
		return nil, err
	}
	seconds := make([]float64, 0, size.Runs)
	var peak float64
	for range size.Runs {
		used, err := run(ctx, svcat, made)
		if err != nil {
			return nil, err
		}
		seconds, peak = append(seconds, used.seconds), max(peak, used.peak)
	}
	what := fmt.Sprintf("svcat simulate, of %d plans and instances", size.Services*size.PlansEach)
	detail := fmt.Sprintf("of %d: a default switched, a policy added, a catalog with %d plans changed; a snapshot of %.0f MB, and a report of %d lines",
		size.Runs, size.Services*size.Changed, made.megabytes, made.lines)
	return []measure.Row{
		{What: what, Value: measure.Quantile(seconds, 0.5), Unit: "s", Bound: measure.AtMost, Goal: timeGoal, Detail: "median processor time " + detail},
		{What: "  its memory", Value: peak, Unit: "MB", Bound: measure.AtMost, Goal: memoryGoal, Detail: "the most that a run had resident"},
	}, nil
}
