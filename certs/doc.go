// Package certs makes the serving certificates of the webhook, and has the API server
// trust them.
//
// Issue makes a certificate authority and one leaf signed by it, in memory;
// WriteServing lays a leaf out as the files that the webhook server reads. A Rotator
// does all of it in a cluster: a Secret holds the authority and the leaf, every replica
// serves the leaf, both hook configurations carry the authority. What it does next is
// decided by pure functions (next, amend, takes): the Secret, the bundles, the clock and
// the policy in, what to write out.
//
// The invariant: at each moment every replica serves a leaf that every entry of both
// configurations trusts. A new authority is trusted beside the old one first; a replica
// takes a leaf of it only once that has held for a while; the old one goes last.
//
// No key leaves the Secret and the serving directory: nothing here logs one.
package certs
