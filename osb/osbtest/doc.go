// Package osbtest is an in-memory broker for tests of platforms. It serves the Open
// Service Broker API 2.17 over HTTP and follows the specification unless a test scripts
// a fault.
//
// Its books record what it really made and removed, and how often. Its script says which
// calls fail, and how; every fault happens on the wire and says whether the broker acted.
// Its gates hold a call before the broker acts and before it answers, so a test can kill a
// platform at any point without a sleep. Its duties are what a platform must do for a
// broker; a Violation names each call that broke one.
//
// The duties are those of an operator's checklist, M1 to M14, each with the points of the
// specification that it comes from; see Duties.
//
// It has its own implementation of the protocol and does not import package osb, so both
// must agree with the specification, and not only with each other.
package osbtest
