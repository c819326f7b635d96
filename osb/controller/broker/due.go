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
	// longestRetry is the longest that a broker can ask to wait.
	longestRetry = osb.LongestWait
	// credentialsRetry is the time after credentials that are absent or wrong: they
	// are in a Secret that is not watched.
	credentialsRetry = time.Minute
	// clockSkew is by how much the clocks of two machines may well differ.
	clockSkew = 5 * time.Minute
	// jitterShare is the part of a time by which it is spread.
	jitterShare = 10
)

// relistDue is when the catalog of a broker is to be fetched next; false: not by
// itself. It depends on what is stored, so every pass finds the same time. A time that
// only a wrong clock can have stored is not waited for: it is due now, which replaces it.
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

// impossible says that a time is later than any that a right clock can have stored.
func impossible(stored, latest time.Time) bool { return stored.After(latest.Add(clockSkew)) }

// spread is up to a tenth of a time, another for each broker and turn, so that not all
// are asked at once.
func spread(b Broker, turn int64, of time.Duration) time.Duration {
	sum := fnv.New32a()
	_, _ = fmt.Fprintf(sum, "%s/%d", b.object.GetUID(), turn) // a hash takes everything
	const steps = 1000
	return of / jitterShare * time.Duration(sum.Sum32()%steps) / steps
}

// retryAfter is the time until the next try, after so many that failed.
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
