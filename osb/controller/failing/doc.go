// Package failing knows which instances or bindings fail at present, by broker, plan and whether
// they are being deleted. Those that fail alike share a number of attempts; a success of another
// one, or a change of class, plan or broker, brings the next attempt of each without waiting for
// its time.
//
// A success wakes an object that failed again after one for five minutes at the earliest, or
// after its share of the attempts. So a stream of successes does not turn off the backoff of
// objects that fail for a reason of their own.
//
// All of it is in memory. After a restart the first pass over each object that waits notes it
// again.
package failing
