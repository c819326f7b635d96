package queue

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// evenly is the jitter that spreads nothing.
const evenly = 0.5

// fail has so many calls, begun one after the other, stay without an answer.
func (b *breaker) fail(t *testing.T, times int, now time.Time) {
	t.Helper()
	for range times {
		require.False(t, b.paused(now))
		b.ended(ofBroker(&osb.Error{Kind: osb.NeverSent}), b.begin(now), now, evenly)
	}
}

func TestBreakerCountsSilence(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason string
		err    error
		paused bool
	}{
		"NeverSent":     {reason: "no connection", err: &osb.Error{Kind: osb.NeverSent}, paused: true},
		"MaybeReceived": {reason: "no answer", err: &osb.Error{Kind: osb.MaybeReceived}, paused: true},
		"Wrapped":       {reason: "also within another error", err: errors.Join(&osb.Error{Kind: osb.NeverSent}), paused: true},
		"Unavailable":   {reason: "a 429 or 503 is an answer: one plan's must not pause the others", err: &osb.Error{Kind: osb.Unavailable}},
		"Rejected":      {reason: "so is a refusal", err: &osb.Error{Kind: osb.Rejected}},
		"BrokerFault":   {reason: "so is a 500", err: &osb.Error{Kind: osb.BrokerFault}},
		"Good":          {reason: "so is a good one", err: nil},
		"NotTheBroker":  {reason: "a Secret that is not there says nothing of the broker", err: errors.New("no Secret")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := breaker{}
			b.fail(t, failuresToPause-1, noon)
			require.False(t, b.paused(noon), "not yet")
			b.ended(ofBroker(test.err), b.begin(noon), noon, evenly)
			assert.Equal(t, test.paused, b.paused(noon), test.reason)
		})
	}
}

func TestBreakerForgetsFailuresAtASignOfLife(t *testing.T) {
	t.Parallel()
	b := breaker{}
	b.fail(t, failuresToPause-1, noon)
	b.ended(ofBroker(nil), b.begin(noon), noon, evenly)
	b.fail(t, failuresToPause-1, noon)
	assert.False(t, b.paused(noon))
}

func TestBreakerKeepsFailuresWhereTheBrokerWasNotAsked(t *testing.T) {
	t.Parallel()
	b := breaker{}
	b.fail(t, failuresToPause-1, noon)
	b.ended(ofBroker(errors.New("no Secret")), b.begin(noon), noon, evenly)
	b.fail(t, 1, noon)
	assert.True(t, b.paused(noon))
}

func TestBreakerLetsOneTryAtATime(t *testing.T) {
	t.Parallel()
	b := breaker{}
	b.fail(t, failuresToPause, noon)
	assert.True(t, b.paused(noon.Add(firstPause-1)))
	after := noon.Add(firstPause)
	require.False(t, b.paused(after))
	require.True(t, b.begin(after))
	assert.True(t, b.paused(after), "one is enough to find out")
	b.ended(ofBroker(&osb.Error{Kind: osb.NeverSent}), true, after, evenly)
	assert.Equal(t, after.Add(2*firstPause), b.until, "the next pause is longer")
	after = b.until
	require.True(t, b.begin(after))
	b.ended(ofBroker(errors.New("no Secret")), true, after, evenly)
	assert.False(t, b.paused(after), "the next one finds out")
	require.True(t, b.begin(after))
	b.ended(ofBroker(nil), true, after, evenly)
	assert.Equal(t, breaker{}, b, "all as before")
}

// Calls that were under way when the pause began say nothing new.
func TestBreakerCountsOneOutageOnce(t *testing.T) {
	t.Parallel()
	b := breaker{}
	for range 20 {
		b.begin(noon)
	}
	for range 20 {
		b.ended(ofBroker(&osb.Error{Kind: osb.MaybeReceived}), false, noon, evenly)
	}
	assert.Equal(t, noon.Add(firstPause), b.until)
	assert.Equal(t, 1, b.pauses)
}

func TestBreakerPausesAreBounded(t *testing.T) {
	t.Parallel()
	b, now := breaker{}, noon
	b.fail(t, failuresToPause, now)
	for range 40 {
		now = b.until
		b.fail(t, 1, now)
		require.LessOrEqual(t, b.until.Sub(now), longestPause)
		require.Positive(t, b.until.Sub(now))
	}
	assert.Equal(t, longestPause, b.until.Sub(now))
}

// A trial that takes long has another one beside it. What the one says counts once, and what
// ends after the broker answered is an ordinary call.
func TestBreakerTrialsBesideOneAnother(t *testing.T) {
	t.Parallel()
	silent := &osb.Error{Kind: osb.MaybeReceived}
	started := func() (b breaker, late time.Time) {
		b.fail(t, failuresToPause, noon)
		first := noon.Add(firstPause)
		require.True(t, b.begin(first))
		late = first.Add(trialPatience)
		require.Equal(t, late, b.looks(first))
		require.False(t, b.beside(late.Add(-1)))
		require.True(t, b.beside(late))
		require.True(t, b.begin(late))
		require.False(t, b.beside(late), "one at a time")
		return b, late
	}

	b, late := started()
	b.ended(ofBroker(nil), true, late, evenly)
	require.Equal(t, breaker{}, b)
	b.ended(ofBroker(silent), true, late, evenly)
	assert.Equal(t, breaker{failures: 1, last: late}, b, "it hung since before the answer")

	b, late = started()
	b.ended(ofBroker(silent), true, late, evenly)
	paused := b
	require.Equal(t, late.Add(2*firstPause), b.until)
	b.ended(ofBroker(silent), true, late.Add(1), evenly)
	assert.Equal(t, paused.until, b.until, "both are of one outage")
	assert.Equal(t, paused.pauses, b.pauses)
	assert.Zero(t, b.trying)

	b, late = started()
	b.idle(true)
	b.idle(true)
	b.idle(true)
	assert.Zero(t, b.trying)
	assert.False(t, b.paused(late), "the next one finds out")
}

// Brokers that went away together are not tried together.
func TestBreakerPausesAreSpread(t *testing.T) {
	t.Parallel()
	for jitter, want := range map[float64]time.Duration{0: 1800 * time.Millisecond, evenly: firstPause, 1: 2200 * time.Millisecond} {
		b := breaker{}
		for range failuresToPause {
			b.ended(ofBroker(&osb.Error{Kind: osb.NeverSent}), false, noon, jitter)
		}
		assert.Equal(t, want, b.until.Sub(noon), jitter)
	}
}
