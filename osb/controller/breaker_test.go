package controller

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// trial is the time that the one call which tries has.
const trial = time.Minute

func (b *breaker) admits(now time.Time) bool { return b.admit(now, trial) == 0 }

// fail has so many admitted calls stay without an answer.
func (b *breaker) fail(t *testing.T, times int, now time.Time) {
	t.Helper()
	for range times {
		require.True(t, b.admits(now))
		b.ended(&osb.Error{Kind: osb.NeverSent}, now)
	}
}

func TestBreakerCountsSilence(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason string
		err    error
		spared bool
	}{
		"NeverSent":     {reason: "no connection", err: &osb.Error{Kind: osb.NeverSent}, spared: true},
		"MaybeReceived": {reason: "no answer", err: &osb.Error{Kind: osb.MaybeReceived}, spared: true},
		"Unavailable":   {reason: "the broker says so", err: &osb.Error{Kind: osb.Unavailable}, spared: true},
		"Wrapped":       {reason: "whoever wrapped it", err: errors.Join(&osb.Error{Kind: osb.NeverSent}), spared: true},
		"Rejected":      {reason: "an answer is a sign of life", err: &osb.Error{Kind: osb.Rejected}},
		"BrokerFault":   {reason: "so is a 500", err: &osb.Error{Kind: osb.BrokerFault}},
		"Good":          {reason: "so is a good one", err: nil},
		"NotTheBroker":  {reason: "a Secret that is not there says nothing of the broker", err: errors.New("no Secret")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := breaker{}
			b.fail(t, failuresToSpare-1, noon)
			require.True(t, b.until.IsZero(), "not yet")
			require.True(t, b.admits(noon))
			b.ended(test.err, noon)
			assert.Equal(t, test.spared, !b.until.IsZero(), test.reason)
			assert.Equal(t, !test.spared, b.admits(noon))
		})
	}
}

func TestBreakerForgetsFailuresAtASignOfLife(t *testing.T) {
	t.Parallel()
	b := breaker{}
	b.fail(t, failuresToSpare-1, noon)
	require.True(t, b.admits(noon))
	b.ended(nil, noon)
	b.fail(t, failuresToSpare-1, noon)
	assert.True(t, b.until.IsZero())
}

func TestBreakerKeepsFailuresWhereTheBrokerWasNotAsked(t *testing.T) {
	t.Parallel()
	b := breaker{}
	b.fail(t, failuresToSpare-1, noon)
	require.True(t, b.admits(noon))
	b.ended(errors.New("no Secret"), noon)
	b.fail(t, 1, noon)
	assert.False(t, b.until.IsZero())
}

func TestBreakerLetsOneTryAtATime(t *testing.T) {
	t.Parallel()
	b := breaker{}
	b.fail(t, failuresToSpare, noon)
	assert.Equal(t, noon.Add(firstSparing), b.until)
	assert.False(t, b.admits(noon.Add(firstSparing-1)))
	after := noon.Add(firstSparing)
	require.True(t, b.admits(after))
	assert.False(t, b.admits(after), "one is enough to find out")
	b.ended(&osb.Error{Kind: osb.NeverSent}, after)
	assert.Equal(t, after.Add(2*firstSparing), b.until, "the next pause is longer")
	after = b.until
	require.True(t, b.admits(after))
	b.ended(nil, after)
	assert.True(t, b.admits(after))
	assert.True(t, b.admits(after), "all as before")
}

func TestBreakerPausesAreBounded(t *testing.T) {
	t.Parallel()
	b, now := breaker{}, noon
	b.fail(t, failuresToSpare, now)
	for range 40 {
		now = b.until
		b.fail(t, 1, now)
		require.LessOrEqual(t, b.until.Sub(now), lastSparing)
		require.Positive(t, b.until.Sub(now))
	}
	assert.Equal(t, lastSparing, b.until.Sub(now))
}

func TestBreakerBoundsCallsAtOnce(t *testing.T) {
	t.Parallel()
	b := breaker{}
	for range mostCalls {
		require.True(t, b.admits(noon))
	}
	assert.False(t, b.admits(noon), "a broker that hangs takes not all workers")
	b.ended(nil, noon)
	assert.True(t, b.admits(noon))
	assert.Equal(t, mostCalls, b.running)
}

// While one call finds out whether a broker is back, nobody else asks every moment.
func TestBreakerIsSparedDuringTheTrial(t *testing.T) {
	t.Parallel()
	b := breaker{}
	b.fail(t, failuresToSpare, noon)
	after := b.until
	require.True(t, b.admits(after))
	assert.Equal(t, after.Add(trial), b.until)
	b.ended(errors.New("no Secret"), after)
	assert.Equal(t, after, b.until, "it was not tried: the next one may")
}

// The more are not admitted, the longer each waits.
func TestBreakerPausesGrowWithTheCrowd(t *testing.T) {
	t.Parallel()
	b := breaker{running: mostCalls}
	assert.Equal(t, firstPause, b.admit(noon, trial))
	for range 2 * mostCalls {
		b.admit(noon, trial)
	}
	assert.Equal(t, 3*firstPause, b.admit(noon, trial))
	for range 10_000 {
		b.admit(noon, trial)
	}
	assert.Equal(t, lastPause, b.admit(noon, trial))
	b.ended(nil, noon)
	assert.True(t, b.admits(noon))
}
