// Package controller reconciles brokers, instances and bindings with their
// brokers and reports in status. It decides neither what admission decides
// (which plan, which default) nor what package lifecycle decides (which call,
// and what a response means): it reads, calls, and writes.
//
// A pass over an instance or binding is: read it from the cache, gather facts,
// call lifecycle.Next; write the intent, on the condition that nothing changed
// since it was read; make the one call; write the outcome. A stale cache fails
// at the first write.
//
// The timeout of a call starts when it is sent. Requests to the API server have
// their own timeout, and one that fails before the call does not count as a
// failure of the broker.
package controller
