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
)

// A breaker counts the calls to one broker that stay without an answer. After some of
// them it spares the broker for a while, then lets one call try.
type breaker struct {
	running, failures int
	// until is the end of the pause, or zero; pauses counts them.
	until  time.Time
	pauses int
}

// admit begins a call, if the broker may have one more.
func (b *breaker) admit(now time.Time) bool {
	trying := !b.until.IsZero()
	if b.until.After(now) || b.running >= mostCalls || trying && b.running > 0 {
		return false
	}
	b.running++
	return true
}

// ended is told what came of a call. An error that is the broker's answer is a sign of
// life like any other.
func (b *breaker) ended(err error, now time.Time) {
	b.running--
	failed := (*osb.Error)(nil)
	switch {
	case err != nil && !errors.As(err, &failed):
		return // it was not the broker's doing
	case err == nil || !silent(failed.Kind):
		*b = breaker{running: b.running}
		return
	}
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
