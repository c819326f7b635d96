// Package simulate has the command that tells what a change would do: simulate. What it tells is
// decided by package simulation; this package reads the state and the change, and prints.
package simulate
