// Package osbtest is a broker to test platforms with: the Open Service Broker API
// 2.17 over HTTP, in memory, doing as the specification says until it is told
// otherwise.
//
// Its books are the truth: what it really made and removed, and how often. Its script
// says which calls go wrong, and how; every fault happens on the wire, and each says
// whether the broker acted. Its gates hold a call before the broker acts, and before
// it answers, so that a platform can be killed at any point without a sleep. Its
// duties say what a platform owes a broker, and name each call that broke one.
//
// The duties are those of an operator's checklist, M1 to M14, each with the points of
// the specification that it comes from; see Duties.
//
// It is its own reader of the protocol and uses nothing of package osb, so that both
// must agree on the specification, and not only with each other.
package osbtest
