// Package suite runs the tests of one package on stacks: on one that they share, or on their own.
// It finds the binaries, bounds how many tests run at once, and keeps the logs of those that fail.
package suite
