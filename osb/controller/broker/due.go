package broker

import (
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

const (
	// firstRetry is the time after a first failure; it doubles up to lastRetry.
	firstRetry = 5 * time.Second
	lastRetry  = 10 * time.Minute
	// shortestRelist is the shortest relistDuration that counts.
	shortestRelist = time.Minute
	// longestRetry is the longest wait that a broker can request.
	longestRetry = osb.LongestWait
	// credentialsRetry is the retry interval for absent or wrong credentials:
	// their Secret is not watched.
	credentialsRetry = time.Minute
	// clockSkew is the tolerated difference between the clocks of two machines.
	clockSkew = 5 * time.Minute
	// jitterShare is the divisor of a time that gives its jitter.
	jitterShare = 10
)

// relistDue is when the catalog of a broker is fetched next; false: not by
// itself. It depends on stored values only, so every pass computes the same
// time. A time that only a wrong clock can have stored is not waited for: the
// relist is due now, which replaces it.
func relistDue(b Broker, now time.Time, interval time.Duration) (due time.Time, ever bool) {
	status := b.Status
	if _, told := v1beta1.FindCondition(status.Conditions, v1beta1.ConditionReady); !told || status.ObservedGeneration != b.object.GetGeneration() {
		return time.Time{}, true
	}
	if stalled, _ := v1beta1.FindCondition(status.Conditions, v1beta1.ConditionStalled); stalled.Status == v1beta1.ConditionTrue {
		return time.Time{}, false
	}
	if retry := status.NextRetry; retry != nil {
		if impossible(retry.Time, now.Add(longestRetry)) {
			return now, true
		}
		return retry.Time, true
	}
	if status.LastCatalogRetrievalTime == nil {
		return time.Time{}, true
	}
	if b.Spec.RelistBehavior == v1beta1.RelistManual {
		return time.Time{}, false
	}
	if b.Spec.RelistDuration != nil && b.Spec.RelistDuration.Duration > 0 {
		interval = max(b.Spec.RelistDuration.Duration, shortestRelist)
	}
	last := status.LastCatalogRetrievalTime.Time
	if impossible(last, now) {
		return now, true
	}
	return last.Add(interval + spread(b, last.Unix(), interval)), true
}

// impossible says whether a time is later than any that a right clock can have
// stored.
func impossible(stored, latest time.Time) bool { return stored.After(latest.Add(clockSkew)) }

// spread is a jitter of up to a tenth of a time, different for each broker and
// turn, so that not all brokers are called at once.
func spread(b Broker, turn int64, of time.Duration) time.Duration {
	sum := fnv.New32a()
	_, _ = fmt.Fprintf(sum, "%s/%d", b.object.GetUID(), turn) // a hash takes everything
	const steps = 1000
	return of / jitterShare * time.Duration(sum.Sum32()%steps) / steps
}

// retryAfter is the time until the next attempt, after that many failures.
func retryAfter(b Broker, stage stage, failure error, retries int32) time.Duration {
	if stage == authenticating {
		return credentialsRetry
	}
	wait := lastRetry
	const doublings = 7
	if retries < doublings {
		wait = min(firstRetry<<retries, lastRetry)
	}
	wait += spread(b, int64(retries), wait)
	if e := (*osb.Error)(nil); errors.As(failure, &e) {
		wait = max(wait, e.RetryAfter)
	}
	return wait
}
