// Package freshness_test proves that an instance is decided by what was written just
// before it, such as a plan in the same file, though no webhook's cache has it yet.
package freshness_test
