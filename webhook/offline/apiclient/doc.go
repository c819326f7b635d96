// Package apiclient is a client of an offline cluster: it reads what the cluster has, and
// what it writes goes through admission as a user's, with fields owned by managers as the
// API server records them. So production controllers run against objects in memory.
package apiclient
