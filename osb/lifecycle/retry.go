package lifecycle

import (
	"cmp"
	"math"
	"time"
)

// Bounds of the time between two attempts. A person who fixes a problem should not have to
// wait long, and a broker that is down should not receive every retry at once.
const (
	firstRetry = time.Second
	lastRetry  = 5 * time.Minute
	// concurrentRetry bounds the wait for another operation on the same instance.
	concurrentRetry = 15 * time.Second
	// unreachedRetry bounds the wait for a broker that was not reached. Calls to one that is
	// away have pauses in its queue: a longer wait of each object would only be waited out
	// after the broker is back.
	unreachedRetry = 10 * time.Second
)

// Bounds of the time between two polls: a twentieth of how long it takes already.
const (
	firstPoll   = time.Second
	lastPoll    = 30 * time.Second
	pollsInTime = 20
)

// Backoff is the time before the next try after a number of failures, counted from 1:
// it doubles, up to f.MaxRetry, and f.Jitter takes away up to a quarter, so that what
// failed together is not tried together. The broker's own wish is granted.
func (f *Facts) Backoff(failures int32, wish time.Duration) time.Duration {
	const doublings = 20
	wait := firstRetry << min(max(failures-1, 0), doublings)
	wait = min(wait, cmp.Or(f.MaxRetry, lastRetry))
	wait -= time.Duration(math.Floor(float64(wait/4) * f.Jitter))
	return max(wait, wish)
}

// PollAfter is the time before the next poll of an operation that began some time ago.
// The broker's own wish is granted.
func PollAfter(elapsed, wish time.Duration) time.Duration {
	return max(min(max(elapsed/pollsInTime, firstPoll), lastPoll), wish)
}
