// Package deletion_test proves that deleting objects and namespaces always works: while
// the webhook runs, after it was killed, and where it was never installed.
package deletion_test
