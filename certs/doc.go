// Package certs issues the serving certificates of the webhook and makes the API server
// trust them.
//
// Issue makes a certificate authority and one leaf signed by it, in memory; WriteServing
// writes a leaf as the files that the webhook server reads.
//
// In a cluster a Rotator and Followers share the work. A Rotator, in the keeper's process,
// writes the authority and its key into one Secret, the leaf into another, and the
// authority into both webhook configurations. Pure functions (next, amend) decide what it
// writes, given the Secrets, the bundles, the clock and the policy. A Follower, in each
// process that serves, only reads: it writes the leaf of the Secret into the serving
// directory, and takes decides when to switch to another leaf. Without a Rotator it keeps
// serving the leaf that it has.
//
// The invariant: at each moment every replica serves a leaf that every entry of both
// configurations trusts. A new authority is first trusted beside the old one; only then is
// a leaf of it put into the Secret; a replica switches to it once that trust has held for
// a while; the old authority is removed last.
//
// Keys stay in the Secrets and the serving directory: this package logs none.
package certs
