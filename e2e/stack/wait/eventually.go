package wait

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// quiet is how long Eventually waits without seeing any progress, on an idle
	// machine; see Patience.
	quiet = 30 * time.Second
	// mostProgress bounds how often progress extends a wait: a condition that flaps
	// for ever is a failure too.
	mostProgress = 20
	// shortestPoll is long against a request to an API server on the same machine.
	shortestPoll = 25 * time.Millisecond
	longestPoll  = 250 * time.Millisecond
)

var (
	errNotYet = errors.New("it has not come true")
	errNoMove = errors.New("nothing changed")
)

// Eventually calls is until it returns true. It fails when ctx ends, or when
// nothing changed for half a minute, scaled by Patience. An error beside false says
// what is observed so far: while that text changes, the wait is extended. The last
// one is part of the failure.
func Eventually(ctx context.Context, is func() (bool, error)) error {
	return EventuallyWithin(ctx, quiet, is)
}

// EventuallyWithin is Eventually where quiet is the longest time without progress; it
// is scaled by Patience.
func EventuallyWithin(ctx context.Context, quiet time.Duration, is func() (bool, error)) error {
	return eventually(ctx, Patience(quiet), is)
}

func eventually(ctx context.Context, quiet time.Duration, is func() (bool, error)) error {
	stalled := time.NewTimer(quiet)
	defer stalled.Stop()
	began := time.Now()
	last, moves := errNotYet, 0
	for {
		done, err := is()
		if done {
			return err
		}
		// An error that only says that ctx ended would hide the reason.
		if err != nil && ctx.Err() == nil {
			if moves < mostProgress && err.Error() != last.Error() {
				moves++
				stalled.Reset(quiet)
			}
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("cannot wait longer (%w): %w", context.Cause(ctx), last)
		case <-stalled.C:
			return fmt.Errorf("cannot wait longer (%w for %s): %w", errNoMove, quiet, last)
		case <-time.After(pollAfter(time.Since(began))):
		}
	}
}

// pollAfter is how long to wait before the next look, after waiting for so long: what is
// soon true is soon seen, and a long wait costs the API server few requests.
func pollAfter(waited time.Duration) time.Duration {
	return min(max(waited/8, shortestPoll), longestPoll)
}
