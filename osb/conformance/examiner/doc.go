// Package examiner judges a broker over HTTP by the rules of package conformance. It
// behaves as a platform, at first a careful one and then one that is in a hurry, and removes
// in the end what it had the broker make.
//
// It has its own client: package osb is lenient with answers and refuses to send what is
// wrong, which is what a judge must do.
package examiner
