// Package conformance holds what the Open Service Broker API asks of brokers and of
// platforms, as rules: each is one MUST or SHOULD that the other side can observe, with a
// stable ID. A Sheet collects what was seen of them, and a Report says which were kept.
//
// Package examiner judges a broker by them, and package observer a platform.
package conformance
