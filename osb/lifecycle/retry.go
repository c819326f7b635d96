package lifecycle

import (
	"math"
	"time"
)

// Bounds of the time between two tries. A person who mends something should not have
// to wait long, nor a broker that is down be asked by everybody at once.
const (
	firstRetry = time.Second
	lastRetry  = 5 * time.Minute
	// concurrentRetry bounds the wait for another operation on the same instance.
	concurrentRetry = 15 * time.Second
)

// Bounds of the time between two polls: a twentieth of how long it takes already.
const (
	firstPoll   = time.Second
	lastPoll    = 30 * time.Second
	pollsInTime = 20
)

// Backoff is the time before the next try after a number of failures, counted from 1:
// it doubles, up to a bound, and jitter (0 to below 1) takes away up to a quarter, so
// that what failed together is not tried together. The broker's own wish is granted.
func Backoff(failures int32, jitter float64, wish time.Duration) time.Duration {
	const most = 20
	wait := firstRetry << min(max(failures-1, 0), most)
	wait = min(wait, lastRetry)
	wait -= time.Duration(math.Floor(float64(wait/4) * jitter))
	return max(wait, wish)
}

// PollAfter is the time before the next poll of an operation that began some time ago.
// The broker's own wish is granted.
func PollAfter(elapsed, wish time.Duration) time.Duration {
	return max(min(max(elapsed/pollsInTime, firstPoll), lastPoll), wish)
}
