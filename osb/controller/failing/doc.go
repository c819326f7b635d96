// Package failing knows which instances or bindings fail at present, by broker, plan and whether
// they are being deleted. Those that fail alike share a number of attempts; a success of another
// one, or a change of class, plan or broker, brings the next attempt of each without waiting for
// its time.
//
// A success brings one attempt at most between two that an object makes in its own time. So
// successes at most double the attempts of objects that fail for a reason of their own.
//
// All of it is in memory. After a restart the first pass over each object that waits notes it
// again.
package failing
