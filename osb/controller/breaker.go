package controller

import (
	"errors"
	"time"

	"github.com/defaultplan/defaultplan/osb"
)

// Bounds of what one broker is burdened with.
const (
	// mostCalls is how many calls run at once: a broker that hangs must not take all
	// workers from the others.
	mostCalls = 24
	// failuresToSpare is how many calls in a row may stay without an answer.
	failuresToSpare = 5
	firstSparing    = 2 * time.Second
	lastSparing     = time.Minute
	// What a call that is not admitted waits.
	firstPause = 200 * time.Millisecond
	lastPause  = 5 * time.Second
)

// A breaker counts the calls to one broker that stay without an answer. After some of
// them it spares the broker for a while, then lets one call try.
type breaker struct {
	running, failures int
	// refused counts those that were not admitted since the last call ended.
	refused int
	// until is the end of the pause, or zero; pauses counts them.
	until  time.Time
	pauses int
	// trying says that the one call that finds out runs.
	trying bool
}

// admit begins a call, if the broker may have one more; otherwise it says how long to
// wait, the longer the more do. The one call that tries has a time, in which no other
// is made.
func (b *breaker) admit(now time.Time, trial time.Duration) time.Duration {
	try := !b.until.IsZero()
	if b.until.After(now) || b.running >= mostCalls || try && b.running > 0 {
		b.refused++
		return min(firstPause*time.Duration(1+b.refused/mostCalls), lastPause)
	}
	b.running++
	if try {
		b.until, b.trying = now.Add(trial), true
	}
	return 0
}

// ended is told what came of a call. An error that is the broker's answer is a sign of
// life like any other.
func (b *breaker) ended(err error, now time.Time) {
	b.running--
	b.refused = 0
	failed := (*osb.Error)(nil)
	switch {
	case err != nil && !errors.As(err, &failed): // it was not the broker's doing
		if b.trying {
			b.until, b.trying = now, false
		}
		return
	case err == nil || !silent(failed.Kind):
		*b = breaker{running: b.running}
		return
	}
	if b.until.After(now) && !b.trying {
		return // it was under way when the pause began: one outage is no series of them
	}
	b.trying = false
	b.failures++
	if b.failures < failuresToSpare && b.until.IsZero() {
		return
	}
	const most = 10
	b.until = now.Add(min(firstSparing<<min(b.pauses, most), lastSparing))
	b.pauses++
}

func silent(kind osb.Kind) bool {
	return kind == osb.NeverSent || kind == osb.MaybeReceived || kind == osb.Unavailable
}
