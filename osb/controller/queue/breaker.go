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
	// longestWish is how long a broker's Retry-After makes a pause at most. The object that
	// was answered waits as long as the answer says: it may be about that object only.
	longestWish = 5 * time.Minute
	// forgetAfter is how long a breaker counts for after its last failure and its pause: longer
	// than an object waits by itself before it is tried again.
	forgetAfter = 6 * time.Minute
	// lasting is how many pauses in a row make one that users are told of: short ones are not
	// worth a write for each object that waits.
	lasting = 2
	// trialPatience is how long one trial may take before another one is made beside it.
	trialPatience = 10 * time.Second
)

// A breaker counts the calls that fail one after the other: those to a broker that stay
// without an answer, and those of an operation that are answered 429 or 503. After some of
// them no such call is made for a while; then one finds out how it is, the trial.
type breaker struct {
	failures int
	// last is when the last failure was counted.
	last time.Time
	// until is the end of the pause, or zero; pauses counts them.
	until  time.Time
	pauses int
	// trying is how many trials run, and tried when the last of them began.
	trying int
	tried  time.Time
}

// open says that a call may be made now; other says that it would be for a namespace that has
// no other at the broker. While a trial takes long, such a one may be made beside it: what one
// namespace's call says by not ending is not held against the others.
func (b *breaker) open(now time.Time, other bool) bool {
	return !b.paused(now) || other && b.beside(now)
}

// paused says that no call is to be made now, except for a trial beside.
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

// forgotten is when all that was counted is of no use any more; zero: nothing was.
func (b *breaker) forgotten() time.Time {
	switch {
	case b.until.After(b.last):
		return b.until.Add(forgetAfter)
	case !b.last.IsZero():
		return b.last.Add(forgetAfter)
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

// ended is told what came of a call. A jitter from 0 to 1 makes a pause up to a tenth shorter or
// longer, so that brokers that went away together are not tried together.
func (b *breaker) ended(came outcome, trial bool, now time.Time, jitter float64) {
	trial = trial && b.trying > 0 // else the broker answered another one since
	switch {
	case came.result == unknown:
		b.idle(trial)
		return
	case came.result == good:
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
	b.last = now
	if b.failures < failuresToPause && !trial {
		return
	}
	const mostDoublings = 10
	pause := min(firstPause<<min(b.pauses, mostDoublings), longestPause)
	const spread = 10
	pause += time.Duration(float64(pause/spread) * (2*jitter - 1))
	b.until = now.Add(max(pause, min(came.wish, longestWish)))
	b.pauses++
}

// idle ends a trial of which nothing is known: the next call finds out.
func (b *breaker) idle(trial bool) {
	if trial && b.trying > 0 {
		b.trying--
	}
}

// A result is what a call says to a breaker.
type result int

const (
	// unknown: nothing of what the breaker counts.
	unknown result = iota
	good
	bad
)

// An outcome is what came of a call, as a breaker counts it. A wish is how long the broker
// asks to wait.
type outcome struct {
	result result
	wish   time.Duration
}

// ofBroker is what came of a call for its broker. Every error that is the broker's answer is a
// sign of life, also a 429 or 503. One that is no answer and no *osb.Error was not its doing.
func ofBroker(err error) outcome {
	failed := (*osb.Error)(nil)
	switch {
	case err != nil && !errors.As(err, &failed):
		return outcome{}
	case err != nil && silent(failed.Kind):
		return outcome{result: bad}
	}
	return outcome{result: good}
}

// ofOperation is what came of a call for its operation. Silence says nothing of it.
func ofOperation(err error) outcome {
	failed := (*osb.Error)(nil)
	switch {
	case err == nil:
		return outcome{result: good}
	case !errors.As(err, &failed) || silent(failed.Kind):
		return outcome{}
	case failed.Kind == osb.Unavailable:
		return outcome{result: bad, wish: failed.RetryAfter}
	}
	return outcome{result: good}
}

// silent says that a call had no answer of the broker.
func silent(kind osb.Kind) bool { return kind == osb.NeverSent || kind == osb.MaybeReceived }
