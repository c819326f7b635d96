// Package simulation says what changes to a catalog, its policies and types would do to a
// cluster, without one. It runs the code of admission, of the keeper and of the relist over
// the cluster's objects in memory, and compares what they decide before and after.
package simulation
