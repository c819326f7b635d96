// Package schemacache compiles plans' JSON schemas and caches the most recently
// used ones. A schema is untrusted: compiling one may take a second, and one
// may take some MiB of memory. So only a few are compiled at once, each only
// once at a time, no caller waits longer than its context allows, and the cache
// is bounded by size. Unlike package merge it is not pure: its callers wait.
// The webhook and the controller have one Cache each.
package schemacache
