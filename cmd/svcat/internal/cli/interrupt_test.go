package cli

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestWhole(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		reason string
		// interrupt is when Ctrl-C comes, and answer when the API server does.
		interrupt, answer time.Duration
		result            error
		code              int
		says              string
		took              time.Duration
	}{
		"Before":    {"nothing is begun", 0, time.Second, nil, 130, "interrupted: nothing was changed", 0},
		"Meanwhile": {"its answer is waited for", time.Second, 3 * time.Second, nil, 0, "", 3 * time.Second},
		"Refused":   {"an answer is one", time.Second, 3 * time.Second, refused, 1, "refused", 3 * time.Second},
		"NoAnswer":  {"not for ever", time.Second, time.Hour, nil, 130, "interrupted before the API server answered: it is not known whether it was made", time.Second + grace},
		"Never":     {"no interrupt", time.Hour, time.Minute, nil, 0, "", time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.interrupt == 0 {
					cancel()
				} else {
					time.AfterFunc(c.interrupt, cancel)
				}
				began := time.Now()
				err := Whole(ctx, "it was made", func(ctx context.Context) error {
					select {
					case <-ctx.Done():
						return ctx.Err()
					case <-time.After(c.answer):
						return c.result
					}
				})
				assert.Equal(t, c.code, ExitCode(err), c.reason)
				assert.Equal(t, c.took, time.Since(began), c.reason)
				if c.says != "" {
					assert.EqualError(t, err, c.says, c.reason)
				}
			})
		})
	}
}

func TestUntouched(t *testing.T) {
	t.Parallel()
	assert.NoError(t, Untouched(nil))
	assert.EqualError(t, Untouched(fmt.Errorf("cannot list: %w", context.Canceled)), "interrupted: nothing was changed")
	assert.EqualError(t, Untouched(errors.New("other")), "other")
	assert.EqualError(t, Untouched(&Failure{ExitInterrupted, fmt.Errorf("it stands: %w", context.Canceled)}), "it stands: context canceled", "who knows better has said it")
}
