// Package holder holds a catalog in the cache of the webhook and admits instances without a
// network, as a process of its own.
package holder
