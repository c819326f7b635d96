// Package certs makes the serving certificates of the webhook, and has the API server
// trust them.
//
// Issue makes a certificate authority and one leaf signed by it, in memory;
// WriteServing lays a leaf out as the files that the webhook server reads.
//
// In a cluster two do the work. A Rotator, in the keeper's process, writes: the authority
// and its key into one Secret, the leaf into another, and the authority into both hook
// configurations. What it does next is decided by pure functions (next, amend): the
// Secrets, the bundles, the clock and the policy in, what to write out. A Follower, in
// each process that serves, only reads: it lays out the leaf's Secret, and decides with
// takes when to go over to another leaf. It goes on with what it has without a Rotator.
//
// The invariant: at each moment every replica serves a leaf that every entry of both
// configurations trusts. A new authority is trusted beside the old one first; only then is
// a leaf of it put into the Secret; a replica takes it once that trust has held for a
// while; the old one goes last.
//
// No key leaves the Secrets and the serving directory: nothing here logs one.
package certs
