package coalesce

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFreshNeverSharesAnOlderRead(t *testing.T) {
	t.Parallel()
	var reads Reads[int]
	var stored atomic.Int64
	var calls atomic.Int64
	read := func(context.Context) (int, error) {
		calls.Add(1)
		return int(stored.Load()), nil
	}
	var wg sync.WaitGroup
	const writers, rounds = 8, 200
	for range writers {
		wg.Go(func() {
			for range rounds {
				// What I wrote before I asked, I must see.
				mine := int(stored.Add(1))
				seen, err := reads.Do(t.Context(), "k", read)
				assert.NoError(t, err)
				assert.GreaterOrEqual(t, seen, mine)
			}
		})
	}
	wg.Wait()
	assert.LessOrEqual(t, calls.Load(), int64(writers*rounds))
	// The last flight tells its passengers before it leaves the lane.
	assert.Eventually(t, func() bool {
		reads.mu.Lock()
		defer reads.mu.Unlock()
		return len(reads.lanes) == 0
	}, time.Minute, time.Millisecond, "no lane is left behind")
}

func TestFreshSharesAmongThoseWhoWait(t *testing.T) {
	t.Parallel()
	var reads Reads[int]
	started, release := make(chan struct{}), make(chan struct{})
	var calls atomic.Int64
	read := func(context.Context) (int, error) {
		if calls.Add(1) == 1 {
			close(started)
			<-release
		}
		return 1, nil
	}
	first := reads.board(t.Context(), "k", read)
	<-started
	waiting := make([]*flight[int], 50)
	for i := range waiting {
		waiting[i] = reads.board(t.Context(), "k", read)
	}
	close(release)
	<-first.done
	for _, flight := range waiting {
		<-flight.done
	}
	assert.EqualValues(t, 2, calls.Load(), "fifty who came during a read share one more")
}

func TestFreshFailsAlone(t *testing.T) {
	t.Parallel()
	var reads Reads[int]
	broken := errors.New("no API server")
	var calls atomic.Int64
	// One for both: reads of one key are alike, and the second may be made where the first has just ended.
	read := func(context.Context) (int, error) {
		if calls.Add(1) == 1 {
			return 0, broken
		}
		return 7, nil
	}
	_, err := reads.Do(t.Context(), "k", read)
	require.ErrorIs(t, err, broken)
	value, err := reads.Do(t.Context(), "k", read)
	require.NoError(t, err)
	assert.Equal(t, 7, value, "a failed read is not kept")

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	block := make(chan struct{})
	defer close(block)
	_, err = reads.Do(ended, "other", func(context.Context) (int, error) { <-block; return 0, nil })
	require.ErrorIs(t, err, context.Canceled, "who stops waiting is told so")
}
