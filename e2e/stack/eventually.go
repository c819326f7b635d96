package stack

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// patience bounds Eventually where the caller's context has no deadline.
	patience = 30 * time.Second
	// pollInterval is short against what is waited for, and long against a
	// request to an API server on the same machine.
	pollInterval = 25 * time.Millisecond
)

var errNotYet = errors.New("it has not come true")

// Eventually asks until is true, and fails when ctx ends first, or after half a
// minute where ctx has no deadline. An error beside false says why not yet: the
// last one is part of the failure.
func Eventually(ctx context.Context, is func() (bool, error)) error {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	last := errNotYet
	for {
		done, err := is()
		if done {
			return err
		}
		// An error that only says that ctx ended would hide the reason.
		if err != nil && ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("cannot wait longer (%w): %w", context.Cause(ctx), last)
		case <-ticker.C:
		}
	}
}
