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
	// longestWish bounds the pause by a broker's Retry-After. The object that
	// got the response waits the full time, because the response may be about
	// that object only.
	longestWish = 5 * time.Minute
	// forgetAfter is how long failures are counted after the last failure and
	// the pause: longer than an object waits whose call the broker did not answer.
	// Objects that it answers may wait longer; then they are not tried often enough
	// for a pause.
	forgetAfter = 6 * time.Minute
	// lasting is the number of successive pauses after which status reports it:
	// a short pause is not worth a write for each object that waits.
	lasting = 2
	// trialPatience is how long a trial may take before a second one is
	// allowed.
	trialPatience = 10 * time.Second
)

// A breaker counts successive failures: calls to a broker without a response,
// and calls of an operation with a 429 or 503. After some of them such calls
// are paused for a while; then one trial call is made.
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

// open says whether a call may be made now; other says that it is for a
// namespace that has no other call at the broker. While a trial takes long,
// such a call may be made as a second trial, because one namespace's hanging
// call must not block the others.
func (b *breaker) open(now time.Time, other bool) bool {
	return !b.paused(now) || other && b.beside(now)
}

// paused says whether no call may be made now, except for a second trial.
func (b *breaker) paused(now time.Time) bool { return b.trying > 0 || b.until.After(now) }

// beside says whether the trial takes so long that a second one may be made.
func (b *breaker) beside(now time.Time) bool {
	return b.trying > 0 && !b.until.After(now) && !b.tried.Add(trialPatience).After(now)
}

// looks is when to check again whether a call may be made; zero: not by itself.
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

// forgotten is when all counts expire; zero: there are none.
func (b *breaker) forgotten() time.Time {
	switch {
	case b.until.After(b.last):
		return b.until.Add(forgetAfter)
	case !b.last.IsZero():
		return b.last.Add(forgetAfter)
	}
	return time.Time{}
}

// begin starts a call, and says whether it is a trial.
func (b *breaker) begin(now time.Time) (trial bool) {
	if b.until.IsZero() {
		return false
	}
	b.trying++
	b.tried = now
	return true
}

// ended records the outcome of a call. A jitter from 0 to 1 makes a pause up to
// a tenth shorter or longer, so that brokers that failed together are not tried
// together.
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

// idle ends a trial without a result: the next call is another trial.
func (b *breaker) idle(trial bool) {
	if trial && b.trying > 0 {
		b.trying--
	}
}

// A result is the result of a call for a breaker.
type result int

const (
	// unknown: irrelevant to the breaker.
	unknown result = iota
	good
	bad
)

// An outcome is the outcome of a call as a breaker counts it. A wish is the
// wait that the broker requests.
type outcome struct {
	result result
	wish   time.Duration
}

// ofBroker is the outcome of a call for the breaker of the broker. Every
// response is a sign of life, including errors such as 429 or 503. An error
// that is neither a response nor an *osb.Error is not the broker's.
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

// ofOperation is the outcome of a call for the breaker of its operation, which
// ignores missing responses.
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

// silent says whether a call had no response of the broker.
func silent(kind osb.Kind) bool { return kind == osb.NeverSent || kind == osb.MaybeReceived }
