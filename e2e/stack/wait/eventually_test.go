package wait //nolint:testpackage // without the factor of this machine

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEventuallyWaitsForProgress: what is observed extends the wait, silence ends it,
// and what only flaps does not go on for ever.
func TestEventuallyWaitsForProgress(t *testing.T) {
	t.Parallel()
	const quiet = 10 * time.Second
	tests := map[string]struct {
		reason string
		is     func(since time.Duration) (bool, error)
		want   string
		after  time.Duration
	}{
		"True": {
			reason: "nothing is waited for",
			is:     func(time.Duration) (bool, error) { return true, nil },
		},
		"TrueWithError": {
			reason: "an error beside true is the answer",
			is:     func(time.Duration) (bool, error) { return true, errors.New("gone") },
			want:   "gone",
		},
		"Silence": {
			reason: "the same text again and again is no progress",
			is:     func(time.Duration) (bool, error) { return false, errors.New("0 of 3") },
			want:   "cannot wait longer (nothing changed for 10s): 0 of 3", after: quiet,
		},
		"Progress": {
			reason: "each text is another for 45 s: longer than the quiet time",
			is: func(since time.Duration) (bool, error) {
				return since >= 45*time.Second, fmt.Errorf("%d of 5", since/(9*time.Second))
			},
			want: "5 of 5", after: 45 * time.Second,
		},
		"Stalls": {
			reason: "progress until 18 s, then none",
			is: func(since time.Duration) (bool, error) {
				return false, fmt.Errorf("%d of 5", min(since/(9*time.Second), 2))
			},
			want: "cannot wait longer (nothing changed for 10s): 2 of 5", after: 28 * time.Second,
		},
		"Flaps": {
			reason: "a text that never comes to rest is bounded",
			is:     func(since time.Duration) (bool, error) { return false, fmt.Errorf("%d", since/(4*time.Second)) },
			want:   "cannot wait longer (nothing changed for 10s): 21", after: 86 * time.Second,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				err := eventually(t.Context(), quiet, func() (bool, error) { return test.is(time.Since(began)) })
				if test.want == "" {
					require.NoError(t, err, test.reason)
					return
				}
				require.EqualError(t, err, test.want, test.reason)
				assert.InDelta(t, test.after, time.Since(began), float64(time.Second), test.reason)
			})
		})
	}
}

// TestEventuallyEndsWithItsContext: a deadline of the caller stands, progress or not.
func TestEventuallyEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		err := Eventually(ctx, func() (bool, error) { return false, fmt.Errorf("after %s", time.Since(began)) })
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.InDelta(t, 3*time.Second, time.Since(began), float64(time.Second))
	})
}

func TestEventually(t *testing.T) {
	t.Parallel()
	asked := 0
	require.NoError(t, Eventually(t.Context(), func() (bool, error) {
		asked++
		return asked == 3, nil
	}))
	assert.Equal(t, 3, asked)

	broken := errors.New("still broken")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := Eventually(ctx, func() (bool, error) { return false, broken })
	require.ErrorIs(t, err, broken, "the reason is not lost")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, Eventually(t.Context(), func() (bool, error) { return true, broken }), broken, "true with an error ends the wait")
}
