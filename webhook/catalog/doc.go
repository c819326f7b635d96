// Package catalog reads the classes, plans and types of a scope: from the cache, and from the
// API server where freshness matters.
//
// Concurrent requests share live reads, and none gets a read that began before it arrived.
// Package catalog denies nothing: it reads, and resolve chooses.
package catalog
