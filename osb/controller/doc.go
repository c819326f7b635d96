// Package controller brings brokers, instances and bindings to their brokers and tells
// in status what came of it. It decides nothing that admission decides (which plan,
// which default), and nothing that package lifecycle decides (which call, and what a
// reply means): it reads, calls, and writes.
//
// A pass over an instance or binding is: read it from the cache, gather facts, ask
// lifecycle.Next; write the intent, on the condition that nothing changed since it was
// read; make the one call; write what came of it. A cache that lags is found out by the
// first write.
//
// A call has all of its time from when it is sent: each request to the API server has its
// own, and one that fails before the call is no failure of the broker's.
package controller
