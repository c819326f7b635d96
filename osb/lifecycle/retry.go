package lifecycle

import (
	"cmp"
	"math"
	"time"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

// Bounds of the time between two attempts. A person who fixes a problem should not have to
// wait long, and a broker that is down should not receive every retry at once.
const (
	firstRetry = time.Second
	// lastRetry is for what the broker itself answers: an edit, a changed plan and a success of
	// another object of the plan end the wait before.
	lastRetry = time.Hour
	// MaxOtherRetry bounds the wait for what is not the answer of the broker to the request, or may
	// be corrected where no watch tells of it: credentials, an API server, a network, Secrets.
	MaxOtherRetry = 5 * time.Minute
	// concurrentRetry bounds the wait for another operation on the same instance.
	concurrentRetry = 15 * time.Second
	// unreachedRetry bounds the wait for a broker that was not reached. Calls to one that is
	// away have pauses in its queue: a longer wait of each object would only be waited out
	// after the broker is back.
	unreachedRetry = 10 * time.Second
	// PausePerObject is the time between two attempts of all the objects that fail alike. With a
	// mitigation an attempt has four writes of status: those of 5,000 objects are 9 writes a second,
	// after the jitter.
	PausePerObject = 500 * time.Millisecond
)

// Bounds of the time between two polls: a twentieth of how long it takes already.
const (
	firstPoll   = time.Second
	lastPoll    = 30 * time.Second
	pollsInTime = 20
)

// Backoff is the time before the next try after a number of failures, counted from 1:
// it doubles, up to f.MaxRetry, and f.Jitter takes away up to a quarter, so that what
// failed together is not tried together. From the second failure on it is no shorter than
// f.AlsoFailing asks for. The broker's own wish is granted.
func (f *Facts) Backoff(failures int32, wish time.Duration) time.Duration {
	return f.backoff(failures, f.maxRetry(), wish)
}

// backoff is Backoff with another bound of the doubling.
func (f *Facts) backoff(failures int32, longest, wish time.Duration) time.Duration {
	const doublings = 20
	wait := firstRetry << min(max(failures-1, 0), doublings)
	wait = min(wait, longest)
	if failures > 1 {
		wait = max(wait, min(time.Duration(f.AlsoFailing)*PausePerObject, f.maxRetry()))
	}
	wait -= time.Duration(math.Floor(float64(wait/4) * f.Jitter))
	return max(wait, wish)
}

func (f *Facts) maxRetry() time.Duration { return cmp.Or(f.MaxRetry, lastRetry) }

// backoff is the delay of the retry after an error.
func (c *call) backoff(e *osb.Error) time.Duration {
	f := *c.facts
	longest := f.maxRetry()
	switch {
	case c.unreached: // the pauses of the broker's queue bound how often all are tried
		f.AlsoFailing, longest = 0, min(longest, unreachedRetry)
	case e.Kind == osb.Concurrency: // it is about one instance, and others have other instances
		f.AlsoFailing, longest = 0, min(longest, concurrentRetry)
	case f.FromSecrets || !answered(e):
		longest = min(longest, MaxOtherRetry)
	}
	return f.backoff(c.record.Retries, longest, e.RetryAfter)
}

// backoffAfterMitigation is the delay of the next attempt once what the last one may have left is
// removed. Ready says how that one failed.
func (c *call) backoffAfterMitigation() time.Duration {
	longest := c.facts.maxRetry()
	ready, _ := c.record.told(v1beta1.ConditionReady)
	unanswered := ready.Reason == words(c.resource.Kind, Provision).erred || ready.Reason == reasonStore || ready.Reason == reasonAPI
	if c.facts.FromSecrets || unanswered {
		longest = min(longest, MaxOtherRetry)
	}
	return c.facts.backoff(c.record.Retries, longest, 0)
}

// answered says whether an error is what the broker answers to the request: one that its
// credentials are wrong says nothing of it.
func answered(e *osb.Error) bool {
	switch e.Kind {
	case osb.Rejected, osb.Conflict, osb.Gone, osb.NotFound, osb.AsyncRequired, osb.Concurrency, osb.MaintenanceConflict,
		osb.RequiresApp, osb.Version, osb.Unavailable, osb.BrokerFault:
		return true
	case osb.Auth, osb.NeverSent, osb.MaybeReceived:
	}
	return false
}

// PollAfter is the time before the next poll of an operation that began some time ago.
// The broker's own wish is granted.
func PollAfter(elapsed, wish time.Duration) time.Duration {
	return max(min(max(elapsed/pollsInTime, firstPoll), lastPoll), wish)
}
