package queue

import (
	"errors"
	"time"

	"github.com/defaultplan/defaultplan/osb"
)

const (
	// failuresToPause is how many calls in a row may stay without an answer.
	failuresToPause = 5
	// A first pause doubles up to the longest one.
	firstPause   = 2 * time.Second
	longestPause = time.Minute
	// trialPatience is how long one trial may take before another one is made beside it.
	trialPatience = 10 * time.Second
)

// A breaker counts the calls to one broker that stay without an answer. After some of
// them the broker is not called for a while; then a call finds out how it is, the trial.
type breaker struct {
	failures int
	// until is the end of the pause, or zero; pauses counts them.
	until  time.Time
	pauses int
	// trying is how many trials run, and tried when the last of them began.
	trying int
	tried  time.Time
}

// paused says that the broker is not to be called now, except for a trial beside.
func (b *breaker) paused(now time.Time) bool { return b.trying > 0 || b.until.After(now) }

// beside says that the trial takes long, so that another one may be made beside it.
func (b *breaker) beside(now time.Time) bool {
	return b.trying > 0 && !b.until.After(now) && !b.tried.Add(trialPatience).After(now)
}

// looks is when it is to be looked next whether a call may be made; zero: not by itself.
func (b *breaker) looks(now time.Time) time.Time {
	patient := b.tried.Add(trialPatience)
	switch {
	case b.until.After(now):
		return b.until
	case b.trying > 0 && patient.After(now):
		return patient
	}
	return time.Time{}
}

// begin begins a call, and says whether it is a trial.
func (b *breaker) begin(now time.Time) (trial bool) {
	if b.until.IsZero() {
		return false
	}
	b.trying++
	b.tried = now
	return true
}

// ended is told what came of a call. Every error that is the broker's answer is a sign of
// life, also a 429 or 503: each object waits as long as that answer asks it to. A jitter from 0
// to 1 makes a pause up to a tenth shorter or longer, so that brokers that went away together
// are not tried together.
func (b *breaker) ended(err error, trial bool, now time.Time, jitter float64) {
	failed := (*osb.Error)(nil)
	trial = trial && b.trying > 0 // else the broker answered another one since
	switch {
	case err != nil && !errors.As(err, &failed): // it was not the broker's doing
		b.idle(trial)
		return
	case err == nil || !silent(failed.Kind):
		*b = breaker{}
		return
	case !trial && !b.until.IsZero():
		return // it was under way when the pause began: one outage is no series of them
	}
	b.idle(trial)
	if b.until.After(now) {
		return // so it is with trials beside one another
	}
	b.failures++
	if b.failures < failuresToPause && !trial {
		return
	}
	const mostDoublings = 10
	pause := min(firstPause<<min(b.pauses, mostDoublings), longestPause)
	const spread = 10
	b.until = now.Add(pause + time.Duration(float64(pause/spread)*(2*jitter-1)))
	b.pauses++
}

// idle ends a trial of which nothing is known: the next call finds out.
func (b *breaker) idle(trial bool) {
	if trial && b.trying > 0 {
		b.trying--
	}
}

// silent says that a call had no answer of the broker.
func silent(kind osb.Kind) bool { return kind == osb.NeverSent || kind == osb.MaybeReceived }
