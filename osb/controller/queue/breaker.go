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
)

// A breaker counts the calls to one broker that stay without an answer. After some of
// them the broker is not called for a while; then one call finds out how it is.
type breaker struct {
	failures int
	// until is the end of the pause, or zero; pauses counts them.
	until  time.Time
	pauses int
	// trying says that the call that finds out runs.
	trying bool
}

// paused says that the broker is not to be called now.
func (b *breaker) paused(now time.Time) bool { return b.trying || b.until.After(now) }

// begin begins a call, and says whether it is the one that finds out.
func (b *breaker) begin() (trial bool) {
	b.trying = !b.until.IsZero()
	return b.trying
}

// ended is told what came of a call. Every error that is the broker's answer is a sign of
// life, also a 429 or 503: each object waits as long as that answer asks it to.
func (b *breaker) ended(err error, trial bool, now time.Time) {
	failed := (*osb.Error)(nil)
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
	b.failures++
	if b.failures < failuresToPause && !trial {
		return
	}
	const mostDoublings = 10
	b.until = now.Add(min(firstPause<<min(b.pauses, mostDoublings), longestPause))
	b.pauses++
}

// idle ends a trial of which nothing is known: the next call finds out.
func (b *breaker) idle(trial bool) {
	if trial {
		b.trying = false
	}
}

// silent says that a call had no answer of the broker.
func silent(kind osb.Kind) bool { return kind == osb.NeverSent || kind == osb.MaybeReceived }
